import { lstatSync, realpathSync, renameSync, unlinkSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { randomBytes } from 'node:crypto';
import { dirname, join } from 'node:path';
import { createPrivate, readPrivate } from '../folders.ts';
import { isInside } from '../paths/inside.ts';
import type { Change } from './entry.ts';
import { linesOf, parseLines } from './json-lines.ts';
import { logName, namesIn, type Log } from './log.ts';

export interface Limits {
  /** For what was deleted, and as much again for what was replaced. */
  readonly quotaBytes: number;
  readonly mostChanges: number;
}

/** So many of the last changes may have been on their way when their process was killed. */
const mostUnderway = 200;
/** What is younger may belong to a change that another server is making. */
const youngMs = 60_000;
/** Bytes of lines about changes that came to nothing. */
const mostNotes = 256 * 1024;

/**
 * Removes what killed processes have left beside files below a root, forgets what is too many or too large, then what
 * no change needs any more. Never throws: what could not be done is tried again later.
 */
export function tidyLog(log: Log, root: string, limits: Limits): void {
  try {
    tidy(log, root, limits);
  } catch {
    // A full disk, or a folder that somebody has removed.
  }
}

function tidy(log: Log, root: string, limits: Limits): void {
  const size = lstatSync(join(log.folder, logName), { throwIfNoEntry: false })?.size ?? 0;
  const all = log.changes();
  for (const change of all.slice(-mostUnderway)) removeTemporary(change, root, log);
  const kept = fitting(all, limits);
  const lines = linesOf(kept);
  // Most of it may be commands that changed nothing.
  if (kept.length < all.length || size > 2 * lines.length + mostNotes) {
    const temporary = join(log.folder, `.${randomBytes(8).toString('hex')}`);
    // What has been added since goes along.
    const added = readPrivate(log.folder, logName)?.subarray(size).toString() ?? '';
    createPrivate(temporary, lines + linesOf(parseLines(added)));
    renameSync(temporary, join(log.folder, logName));
  }
  const needed = new Set(kept.flatMap((change) => [change.id, change.before?.hash]));
  for (const folder of ['contents', 'trash']) {
    for (const name of namesIn(join(log.folder, folder))) {
      const unused = join(log.folder, folder, name);
      const age = Date.now() - (lstatSync(unused, { throwIfNoEntry: false })?.ctimeMs ?? Infinity);
      // Nothing waits for a large folder to go; what stays is tried again.
      if (!needed.has(name) && Math.abs(age) > youngMs)
        void rm(unused, { recursive: true, force: true }).catch(() => {});
    }
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
function removeTemporary({ id, path, to, temporary, pid }: Change, root: string, log: Log): void {
  const folder = dirname(to ?? path);
  const left = join(folder, temporary);
  if (!isInside(left, root) || isAlive(pid) || !lstatSync(left, { throwIfNoEntry: false })?.isFile()) return;
  try {
    // Behind a link by now there is nothing of ours.
    if (realpathSync.native(folder) !== folder) return;
    unlinkSync(left);
    log.drop(id);
  } catch {
    // It stays.
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
