// Builds dist/: the package as it is published. Run by `npm ci` (prepare), `npm test` (pretest) and `npm run build`.
//
// toolcrib.cjs  what is started: answers from memory, and loads one of the others. On an old Node it says so.
// serve.cjs     the server, and chat.cjs, the chat, in one file each: one is loaded faster than fifty, and with the code
//               that was compiled the last time.
// manifest.json what can be offered.
// rare/         packages that few calls of the server need, one file each.
// main.mjs      every other command, split so that each loads only what it uses; library.mjs, with its types, what is
//               imported. Both share the files beside them.
import { chmodSync, copyFileSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';
import { leanSdk, rare, rareApart } from './lean-server.mjs';
import { writeLicenses } from './licenses.mjs';
import { workedOutManifest } from './manifest.mjs';
import { writeProgramIndex, writeToolIndex } from './folder-index.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const { engines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const temporary = join(root, '.tmp', `build-${process.pid}`);
const out = join(temporary, 'out');
// For measuring what a call enters: the same modules, somewhere else, as they were written and with source maps.
const { readable } = parseArgs({ options: { readable: { type: 'string' } } }).values;
const shared = {
  absWorkingDir: root,
  bundle: true,
  platform: 'node',
  target: 'node20',
  external: ['@vscode/ripgrep*'],
  // Its other form asks for its own files by names that cannot be known beforehand.
  alias: { 'jsonc-parser': 'jsonc-parser/lib/esm/main.js' },
  legalComments: 'none',
  logLevel: 'warning',
  metafile: true,
  minify: readable === undefined,
  ...(readable !== undefined && { sourcemap: 'inline' }),
};
const commonJs = {
  ...shared,
  format: 'cjs',
  outdir: out,
  outExtension: { '.js': '.cjs' },
  define: { 'import.meta.url': '__moduleUrl' },
  // What is loaded with its compiled code has require() and nothing else.
  supported: { 'dynamic-import': false },
  banner: { js: 'const __moduleUrl=require("node:url").pathToFileURL(__filename).href;' },
};
const modules = {
  ...shared,
  format: 'esm',
  outExtension: { '.js': '.mjs' },
  banner: { js: "import{createRequire as __cr}from'node:module';const require=__cr(import.meta.url);" },
};

mkdirSync(out, { recursive: true });
writeProgramIndex(root);
writeToolIndex(root);
try {
  const manifest = await workedOutManifest(modules, temporary, out);
  const built = await Promise.all([
    buildEntry(),
    build({ ...commonJs, entryPoints: ['src/cli/serve.ts'], plugins: [manifest, leanSdk, rareApart] }),
    build({ ...commonJs, entryPoints: ['src/cli/chat.ts'], plugins: [manifest] }),
    build({ ...commonJs, outdir: join(out, 'rare'), entryPoints: rare }),
    build({
      ...modules,
      outdir: out,
      entryPoints: { main: 'src/cli/main.ts', library: 'src/library/library.ts' },
      external: [...modules.external, './serve.cjs', './chat.cjs'],
      splitting: true,
      plugins: [manifest],
    }),
  ]);
  for (const file of ['serve.cjs', 'chat.cjs']) if (readable === undefined) writeAscii(join(out, file));
  copyFileSync(join(root, 'src/library/types.d.ts'), join(out, 'library.d.mts'));
  const dist = readable ?? join(root, 'dist');
  rmSync(dist, { recursive: true, force: true });
  renameSync(out, dist);
  chmodSync(join(dist, 'toolcrib.cjs'), 0o755);
  if (readable === undefined) writeLicenses(root, built);
} finally {
  rmSync(temporary, { recursive: true, force: true });
}

/**
 * One character that is not Latin-1 makes V8 keep the whole source in two bytes each. The bundler leaves those of
 * patterns and of String.raw, which our sources use for patterns alone: there, an escape means the same.
 */
function writeAscii(file) {
  const escaped = (unit) => `\\u${unit.charCodeAt().toString(16).padStart(4, '0')}`;
  writeFileSync(file, readFileSync(file, 'utf8').replaceAll(/[^\0-\x7f]/g, escaped));
}

function buildEntry() {
  const [major, minor] = engines.node.match(/\d+/g);
  const sentence = `toolcrib needs Node.js ${major}.${minor} or later; this is `;
  // Before anything else, in words that Node 12 reads: it would otherwise complain about a module or the syntax.
  const check = `(function(v){if(v[0]<${major}||v[0]==${major}&&v[1]<${minor}){
console.error(${JSON.stringify(sentence)}+process.version+".");process.exit(1)}})(process.versions.node.split("."));`;
  return build({
    ...commonJs,
    entryPoints: ['src/cli/toolcrib.ts'],
    external: ['./main.mjs'],
    target: 'node12',
    // It is never reached there.
    supported: { 'dynamic-import': true },
    banner: { js: `#!/usr/bin/env node\n${check}` },
  });
}
