import { join } from 'node:path';
import { build } from 'esbuild';

/** Makes a program of writer.ts in a folder, so that starting it takes no longer than starting Node does. */
export async function buildWriter(
  folder: string,
  source = join(import.meta.dirname, 'writer.ts'),
): Promise<string> {
  const outfile = join(folder, 'writer.mjs');
  await build({
    entryPoints: [source],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    logLevel: 'error',
  });
  return outfile;
}
