// What can be offered (tools, their schemas, programs), worked out when the package is built.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';

/**
 * An esbuild plugin that puts the answer in the place of src/server/manifest.ts, so that starting needs neither the
 * discoverers nor zod's schemas of them. `options`: how modules are built.
 */
export async function workedOutManifest(options, temporary) {
  const outfile = join(temporary, 'publish.mjs');
  await build({ ...options, entryPoints: ['src/server/publish.ts'], outfile });
  const { publish } = await import(pathToFileURL(outfile).href);
  const json = JSON.stringify(await publish());
  return {
    name: 'manifest',
    setup(bundler) {
      bundler.onLoad({ filter: /src[\\/]server[\\/]manifest\.ts$/ }, () => ({
        // JSON.parse of a string is read twice as fast as the same object written out.
        contents: `export const loadManifest = async () => JSON.parse(${JSON.stringify(json)});`,
      }));
    },
  };
}
