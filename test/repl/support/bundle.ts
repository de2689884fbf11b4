import { build } from 'esbuild';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Turns a program in TypeScript into one file that Node runs, in a new temporary folder, and returns its path. */
export async function bundle(source: string): Promise<string> {
  const outfile = join(mkdtempSync(join(tmpdir(), 'program-')), 'program.mjs');
  await build({
    entryPoints: [source],
    outfile,
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    logLevel: 'warning',
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
    },
  });
  return outfile;
}
