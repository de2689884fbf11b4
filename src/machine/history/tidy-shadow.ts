import { lstatSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { discard } from '../folders.ts';
import type { AskGit } from './ask-git.ts';
import type { Shadow } from './shadow.ts';
import { currentOf } from './snapshot.ts';

const mostStates = 100;
const quotaKilobytes = 1024 ** 2;
/** What is younger may be in use by another server. */
const youngMs = 15 * 60_000;

/** Forgets what is too many or too much, and lets git drop what nothing needs. Throws GitFailure. */
export async function tidyShadow(shadow: Shadow, ask: AskGit): Promise<void> {
  const { folder } = shadow;
  const current = currentOf(shadow)?.index;
  const isUnused = (name: string) => name.startsWith('index.') && name !== current;
  for (const { path, age } of newestFirst(folder, isUnused)) if (age > youngMs) discard(path);
  const states = newestFirst(join(folder, 'refs', 'checkpoints'));
  const counted = await ask(shadow, ['count-objects', '-v']);
  const count = (what: string) => Number(new RegExp(`^${what}: (\\d+)$`, 'm').exec(counted)?.[1] ?? 0);
  const isMuch = count('size') + count('size-pack') > quotaKilobytes;
  const most = isMuch ? Math.ceil(Math.min(states.length, mostStates) / 2) : mostStates;
  if (states.length <= most) return;
  for (const { path } of states.slice(most)) discard(path);
  await ask(shadow, ['gc', '--quiet', '--prune=10.minutes.ago'], { workTree: folder });
  // Not even the newest fits: the next one begins anew.
  if (isMuch && most <= 1) rmSync(folder, { recursive: true, force: true });
}

function newestFirst(folder: string, isMeant = (_name: string) => true): { path: string; age: number }[] {
  return readdirSync(folder)
    .filter(isMeant)
    .map((name) => join(folder, name))
    .map((path) => ({ path, age: Date.now() - (lstatSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0) }))
    .toSorted((a, b) => a.age - b.age);
}
