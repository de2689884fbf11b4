// What can be offered (tools, their schemas, programs), worked out when the package is built.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';

/**
 * Writes the answer to manifest.json in `out`; returns an esbuild plugin that reads it in the place of
 * src/server/registry/manifest.ts, so that starting needs neither the discoverers nor zod's schemas of them. It is no part of
 * the code, which is kept in memory as a whole. `options`: how modules are built.
 */
export async function workedOutManifest(options, temporary, out) {
  const outfile = join(temporary, 'publish.mjs');
  await build({ ...options, entryPoints: ['src/server/registry/build-catalogue.ts'], outfile });
  const { buildCatalogue } = await import(pathToFileURL(outfile).href);
  writeFileSync(join(out, 'manifest.json'), JSON.stringify(await buildCatalogue()));
  return {
    name: 'manifest',
    setup(bundler) {
      bundler.onLoad({ filter: /src[\\/]server[\\/]registry[\\/]manifest\.ts$/ }, () => ({
        contents: `import { readFileSync } from 'node:fs';
          export const loadManifest = async () =>
            JSON.parse(readFileSync(new URL('manifest.json', import.meta.url), 'utf8'));`,
      }));
    },
  };
}
