// What a server need not load: packages that few calls use, and what the MCP SDK does beforehand for others.
import { readFileSync } from 'node:fs';

/** Packages with a file of their own, by its name. */
export const rare = {
  ajv: '@modelcontextprotocol/server/validators/ajv',
  execa: 'execa',
  'iconv-lite': 'iconv-lite',
  mdream: '@mdream/js',
  mysql2: 'mysql2',
  pg: 'pg',
  'simple-git': 'simple-git',
};

export const rareApart = {
  name: 'rare',
  setup(bundler) {
    for (const [file, name] of Object.entries(rare))
      bundler.onResolve({ filter: new RegExp(`^${name}$`) }, () => ({
        path: `./rare/${file}.cjs`,
        external: true,
      }));
  },
};

// A declaration up to the line that ends it: the files are written by a bundler, always alike.
const schema = /^const (\w+) = (z\.|[A-Z]\w*Schema\.)([^]*?);$(?=\n+(?:const|\/\*\*|\/\/|export|function))/gm;
const table =
  /^for \(const (?:key of SPEC_SCHEMA_KEYS|\[key, schema\] of Object\.entries\(authSchemas\))\) register\(.*\);$/gm;

/** An esbuild plugin for the server. The client does look at what is left out here. */
export const leanSdk = {
  name: 'lean-sdk',
  setup(bundler) {
    // A zod schema for every type of the protocol and of OAuth, some 200, of which a tenth is used.
    bundler.onLoad(
      { filter: /modelcontextprotocol[\\/]core[\\/]dist[\\/](?:schemas|auth)-[\w-]+\.mjs$/ },
      rewrite(schema, 'const $1 = /* @__PURE__ */ (() => $2$3)();', 10),
    );
    // A public table of all of them, by name.
    bundler.onLoad(
      { filter: /modelcontextprotocol[\\/]server[\\/]dist[\\/]src-[\w-]+\.mjs$/ },
      rewrite(table, '', 2),
    );
    // A JSON Schema validator (ajv, 150 KB) for every server, used only to check answers to questions put to the user.
    bundler.onLoad({ filter: /modelcontextprotocol[\\/]server[\\/]dist[\\/]shimsNode\.mjs$/ }, () => ({
      contents: `export { default as process } from 'node:process';
        export class DefaultJsonSchemaValidator {
          getValidator(schema) {
            const { AjvJsonSchemaValidator } = require('@modelcontextprotocol/server/validators/ajv');
            return new AjvJsonSchemaValidator().getValidator(schema);
          }
        }`,
    }));
  },
};

/** Fails when there are fewer places than `least`: then the SDK has changed. */
const rewrite =
  (pattern, replacement, least) =>
  ({ path }) => {
    const source = readFileSync(path, 'utf8');
    const places = source.match(pattern)?.length ?? 0;
    if (places < least) throw new Error(`${path}: ${places} places to rewrite, expected ${least} or more`);
    return { contents: source.replaceAll(pattern, replacement) };
  };
