import { lstatSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { writePrivate } from '../folders.ts';
import { linesOf } from './json-lines.ts';
import type { AskGit, Shadow } from './shadow.ts';
import { checkpointsOf } from './snapshot.ts';

const mostCheckpoints = 50;
const quotaBytes = 1024 ** 3;
/** More packs than that make reading slower. */
const mostPacks = 20;

/** Forgets what is too many or too much, and lets git drop what nothing needs. Throws GitFailure. */
export async function tidyShadow(shadow: Shadow, ask: AskGit): Promise<void> {
  const { folder } = shadow;
  const all = checkpointsOf(shadow);
  const { bytes, packs } = sizeOf(join(folder, 'objects'));
  const isMuch = bytes > quotaBytes;
  const kept = all.slice(0, isMuch ? Math.ceil(Math.min(all.length, mostCheckpoints) / 2) : mostCheckpoints);
  if (kept.length === all.length && packs <= mostPacks && !isMuch) return;
  writePrivate(folder, 'checkpoints.jsonl', linesOf(kept.toReversed()));
  for (const { id } of all.slice(kept.length))
    rmSync(join(folder, 'refs', 'checkpoints', id), { force: true });
  await ask(shadow, ['gc', '--quiet', '--prune=10.minutes.ago'], { workTree: folder });
  // Not even the newest fits: the next one begins anew.
  if (kept.length <= 1 && sizeOf(join(folder, 'objects')).bytes > quotaBytes)
    rmSync(folder, { recursive: true, force: true });
}

function sizeOf(folder: string): { bytes: number; packs: number } {
  const entries = readdirSync(folder, { withFileTypes: true, recursive: true }).filter((entry) =>
    entry.isFile(),
  );
  const sizes = entries.map(
    ({ parentPath, name }) => lstatSync(join(parentPath, name), { throwIfNoEntry: false })?.size,
  );
  return {
    bytes: sizes.reduce<number>((sum, size) => sum + (size ?? 0), 0),
    packs: entries.filter(({ name }) => name.endsWith('.pack')).length,
  };
}
