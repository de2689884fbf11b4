// Builds dist/: the package as it is published. Run by `npm ci` (prepare), `npm test` (pretest) and `npm run build`.
//
// 1. What can be offered (tools, their schemas, programs) is worked out once and put in the place of
//    src/server/manifest.ts, so that starting needs neither the discoverers nor zod's schemas of them.
// 2. Everything is bundled with code splitting, so that each command loads only what it uses. esbuild splits only
//    ES modules, so each chunk is turned into CommonJS in a second pass: V8 keeps compiled code only for scripts.
// 3. toolcrib.cjs, which loads the chunks with their compiled code, and the licences of what was bundled.
import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';
import { writeLicenses } from './licenses.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const temporary = join(root, '.tmp', `build-${process.pid}`);
// For measuring what a call enters: the same modules, somewhere else, as they were written and with source maps.
const { readable } = parseArgs({ options: { readable: { type: 'string' } } }).values;
const dist = readable ?? join(root, 'dist');
const shared = {
  absWorkingDir: root,
  bundle: true,
  platform: 'node',
  target: 'node20',
  legalComments: 'none',
  logLevel: 'warning',
  minify: readable === undefined,
  ...(readable !== undefined && { sourcemap: 'inline' }),
};

mkdirSync(temporary, { recursive: true });
try {
  const manifest = await workOutManifest();
  const metafile = await bundleChunks(manifest);
  if (readable === undefined) await bundleLoader(packStart(metafile));
  rmSync(dist, { recursive: true, force: true });
  renameSync(join(temporary, 'out'), dist);
  if (readable === undefined) writeLicenses(root, metafile);
} finally {
  rmSync(temporary, { recursive: true, force: true });
}

async function workOutManifest() {
  const outfile = join(temporary, 'publish.mjs');
  await build({
    ...shared,
    stdin: {
      contents:
        "export { publish } from './src/server/publish.ts'; export { asJson } from './src/server/manifest-json.ts';",
      resolveDir: root,
    },
    format: 'esm',
    outfile,
    external: ['@vscode/ripgrep*'],
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
    },
  });
  const { publish, asJson } = await import(pathToFileURL(outfile).href);
  return asJson(await publish());
}

async function bundleChunks(manifest) {
  const modules = join(temporary, 'modules');
  const { metafile } = await build({
    ...shared,
    entryPoints: { main: 'src/cli/main.ts' },
    format: 'esm',
    splitting: true,
    outdir: modules,
    outExtension: { '.js': '.cjs' },
    entryNames: readable === undefined ? '[name]-[hash]' : '[name]',
    chunkNames: '[name]-[hash]',
    external: ['@vscode/ripgrep*'],
    define: { 'import.meta.url': '__moduleUrl' },
    // Its other form asks for its own files by names that cannot be known beforehand.
    alias: { 'jsonc-parser': 'jsonc-parser/lib/esm/main.js' },
    metafile: true,
    plugins: [replaceManifest(manifest), deferValidator(), dropUnusedSchemas()],
  });
  await build({
    ...shared,
    bundle: false,
    entryPoints: readdirSync(modules).map((name) => join(modules, name)),
    loader: { '.cjs': 'js' },
    format: 'cjs',
    // import() of a chunk has to go through the same require() as the rest.
    supported: { 'dynamic-import': false },
    banner: { js: 'const __moduleUrl=require("node:url").pathToFileURL(__filename).href;' },
    outdir: join(temporary, 'out'),
    outExtension: { '.js': '.cjs' },
  });
  return metafile;
}

function replaceManifest(manifest) {
  return {
    name: 'manifest',
    setup(bundler) {
      bundler.onLoad({ filter: /src[\\/]server[\\/]manifest\.ts$/ }, () => ({
        // JSON.parse of a string is read twice as fast as the same object written out.
        contents: `import { fromJson } from './manifest-json.ts';
          export const loadManifest = async () => fromJson(${JSON.stringify(JSON.stringify(manifest))});`,
        loader: 'ts',
        resolveDir: join(root, 'src', 'server'),
      }));
    },
  };
}

/**
 * The SDK makes a JSON Schema validator (ajv, 150 KB) for every server and uses it only to check answers to questions
 * put to the user. Here it is made when it is first used.
 */
function deferValidator() {
  return {
    name: 'validator',
    setup(bundler) {
      bundler.onLoad({ filter: /modelcontextprotocol[\\/]server[\\/]dist[\\/]shimsNode\.mjs$/ }, () => ({
        contents: `export { default as process } from 'node:process';
          export class DefaultJsonSchemaValidator {
            getValidator(schema) {
              const { AjvJsonSchemaValidator } = require('@modelcontextprotocol/server/validators/ajv');
              return new AjvJsonSchemaValidator().getValidator(schema);
            }
          }`,
        resolveDir: root,
      }));
    },
  };
}

/**
 * The SDK makes a zod schema for every type of the protocol and of OAuth when it is loaded, some 200, of which a server uses
 * a tenth. Nothing says that they may be dropped, so that is said here: 30 ms of a start become 15.
 */
function dropUnusedSchemas() {
  const core = /modelcontextprotocol[\\/]core[\\/]dist[\\/](?:schemas|auth)-[\w-]+\.mjs$/;
  const sdk = /modelcontextprotocol[\\/]server[\\/]dist[\\/]src-[\w-]+\.mjs$/;
  // A declaration up to the line that ends it: the files are written by a bundler, always alike.
  const schema =
    /^const (\w+) = (z\.|[A-Z]\w*Schema\.)([^]*?);$(?=\n+(?:const|\/\*\*|\/\/|export|function))/gm;
  const registration =
    /^for \(const (?:key of SPEC_SCHEMA_KEYS|\[key, schema\] of Object\.entries\(authSchemas\))\) register\(.*\);$/gm;
  const rewrite = (path, pattern, replacement, least) => {
    const source = readFileSync(path, 'utf8');
    const found = source.match(pattern)?.length ?? 0;
    if (found < least)
      throw new Error(`${path}: ${found} places to rewrite, expected ${least} or more; did the SDK change?`);
    return { contents: source.replaceAll(pattern, replacement) };
  };
  return {
    name: 'schemas',
    setup(bundler) {
      // The client does look at the table, so it gets a copy of the schemas for itself, with all of them.
      bundler.onResolve(
        { filter: /^@modelcontextprotocol\/core/ },
        async ({ path, importer, pluginData, ...rest }) => {
          if (!/modelcontextprotocol[\\/]client[\\/]/.test(importer) || pluginData === 'resolved')
            return undefined;
          const found = await bundler.resolve(path, { ...rest, importer, pluginData: 'resolved' });
          return { ...found, suffix: '?client' };
        },
      );
      bundler.onResolve({ filter: /^\.\// }, ({ path, resolveDir, pluginData }) =>
        pluginData === 'client' ? { path: join(resolveDir, path), suffix: '?client' } : undefined,
      );
      const pure = 'const $1 = /* @__PURE__ */ (() => $2$3)();';
      bundler.onLoad(
        { filter: /modelcontextprotocol[\\/]core[\\/]dist[\\/].*\.mjs$/ },
        ({ path, suffix }) => {
          if (suffix) return { contents: readFileSync(path, 'utf8'), pluginData: 'client' };
          return core.test(path) ? rewrite(path, schema, pure, 10) : undefined;
        },
      );
      // A public table of all schemas, by name, which nothing of ours looks at.
      bundler.onLoad({ filter: sdk }, ({ path }) => rewrite(path, registration, '', 2));
    },
  };
}

/** Puts every chunk that a server loads to start into one file: a script whose value is a table of their bodies. */
function packStart({ outputs }) {
  const byName = new Map(Object.entries(outputs).map(([path, output]) => [basename(path), output]));
  const nameOf = (source) => [...byName].find(([, { entryPoint }]) => entryPoint?.endsWith(source))[0];
  const entries = ['src/cli/main.ts', 'src/cli/serve.ts', 'src/server/stdio.ts'].map(nameOf);
  const names = new Set(entries);
  for (const name of names) {
    for (const { path, kind } of byName.get(name).imports)
      if (kind === 'import-statement' && byName.has(basename(path))) names.add(basename(path));
  }
  const out = join(temporary, 'out');
  const bodies = [...names].map((name) => {
    const body = readFileSync(join(out, name), 'utf8');
    rmSync(join(out, name));
    return `${JSON.stringify(name)}:function(exports,require,module,__filename,__dirname){${body}\n}`;
  });
  const pack = `({${bodies.join(',\n')}})`;
  const hash = createHash('sha256').update(pack).digest('hex').slice(0, 8).toUpperCase();
  writeFileSync(join(out, `start-${hash}.cjs`), pack);
  return { main: entries[0], pack: `start-${hash}.cjs` };
}

async function bundleLoader({ main, pack }) {
  const outfile = join(temporary, 'out', 'toolcrib.cjs');
  await build({
    ...shared,
    entryPoints: ['src/cli/toolcrib.ts'],
    format: 'cjs',
    outfile,
    define: { MAIN: JSON.stringify(main), PACK: JSON.stringify(pack) },
    banner: { js: '#!/usr/bin/env node' },
  });
  chmodSync(outfile, 0o755);
}
