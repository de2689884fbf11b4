import { lstatSync, readdirSync, realpathSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { discard } from '../folders.ts';
import { isInside } from '../paths/inside.ts';
import type { Change } from './entry.ts';
import type { Log } from './log.ts';

export interface Limits {
  /** For what was deleted, and as much again for what was replaced. */
  readonly quotaBytes: number;
  readonly mostChanges: number;
}

/** So many of the last changes may have been on their way when their process was killed. */
const mostUnderway = 200;
/** What is younger may belong to a change that another server is making. */
const youngMs = 60_000;

/**
 * Removes what killed processes have left beside files, forgets what is too many or too large, then what no change
 * needs any more. Never throws: what could not be done is tried again later.
 */
export function tidyLog(log: Log, limits: Limits): void {
  try {
    for (const change of log.changes().slice(-mostUnderway)) removeTemporary(change, log);
    const kept = log.shorten((changes) => fitting(changes, limits));
    const needed = new Set(kept.flatMap((change) => [change.id, change.kept]));
    for (const unused of readdirSync(log.kept).filter((name) => !needed.has(name))) {
      const { ctimeMs } = lstatSync(join(log.kept, unused));
      // Nothing waits for a large folder to go; what stays is tried again.
      if (Math.abs(Date.now() - ctimeMs) > youngMs)
        void rm(join(log.kept, unused), { recursive: true, force: true }).catch(() => {});
    }
  } catch {
    // A full disk, or a folder that somebody has removed.
  }
}

/**
 * What was deleted and what was replaced have a quota each, so that no number of edits pushes out what was deleted; the
 * newest have their place first. Never by age: a clock that was wrong would empty the list.
 */
function fitting(all: readonly Change[], { quotaBytes, mostChanges }: Limits): Change[] {
  const used = { deleted: 0, replaced: 0 };
  const kept = all.toReversed().filter(({ step, before }, at) => {
    const quota = step === 'remove' ? 'deleted' : 'replaced';
    const bytes = used[quota] + (before?.size ?? 0);
    const fits = at === 0 || (bytes <= quotaBytes && at < mostChanges);
    if (fits) used[quota] = bytes;
    return fits;
  });
  return kept.toReversed();
}

/** Files that are called as ours are, of processes that are gone. */
function removeTemporary({ id, path, to, temporary, pid }: Change, log: Log): void {
  const folder = dirname(to ?? path);
  const left = join(folder, temporary);
  if (!isInside(left, log.root) || isAlive(pid) || !lstatSync(left, { throwIfNoEntry: false })?.isFile())
    return;
  // Behind a link by now there is nothing of ours.
  if (realpathSync.native(folder) !== folder) return;
  discard(left);
  log.drop(id);
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
