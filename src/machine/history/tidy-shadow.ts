import { lstatSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { discard } from '../folders.ts';
import type { AskGit } from './ask-git.ts';
import type { Shadow } from './shadow.ts';
import { currentOf } from './snapshot.ts';

const mostStates = 100;
const quotaBytes = 1024 ** 3;
/** More packs than that make reading slower. */
const mostPacks = 20;
/** What is younger may be in use by another server. */
const youngMs = 15 * 60_000;

/** Forgets what is too many or too much, and lets git drop what nothing needs. Throws GitFailure. */
export async function tidyShadow(shadow: Shadow, ask: AskGit): Promise<void> {
  const { folder } = shadow;
  const current = currentOf(shadow);
  for (const { name, path, changedAt } of filesIn(folder)) {
    const isOld = Math.abs(Date.now() - changedAt) > youngMs;
    if (name.startsWith('index.') && name !== current?.index && isOld) discard(path);
  }
  const states = filesIn(join(folder, 'refs', 'checkpoints')).toSorted((a, b) => b.changedAt - a.changedAt);
  const objects = filesIn(join(folder, 'objects'));
  const isMuch = objects.reduce((sum, { size }) => sum + size, 0) > quotaBytes;
  const most = isMuch ? Math.ceil(Math.min(states.length, mostStates) / 2) : mostStates;
  const packs = objects.filter(({ name }) => name.endsWith('.pack')).length;
  if (states.length <= most && packs <= mostPacks && !isMuch) return;
  for (const { path } of states.slice(most)) discard(path);
  await ask(shadow, ['gc', '--quiet', '--prune=10.minutes.ago'], { workTree: folder });
  // Not even the newest fits: the next one begins anew.
  if (isMuch && most <= 1) rmSync(folder, { recursive: true, force: true });
}

function filesIn(folder: string): { name: string; path: string; size: number; changedAt: number }[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .flatMap(({ parentPath, name }) => {
      const path = join(parentPath, name);
      const found = lstatSync(path, { throwIfNoEntry: false });
      return found ? [{ name, path, size: found.size, changedAt: found.mtimeMs }] : [];
    });
}
