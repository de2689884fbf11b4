import { lstatSync, realpathSync, unlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isInside } from '../paths/inside.ts';
import type { Log } from './log.ts';

/** So many of the last changes may have been on their way when their process was killed. */
const mostUnderway = 200;

/** Removes what killed processes have left beside files below a root: files that are called as ours are. */
export function sweep(log: Log, root: string): void {
  for (const { id, path, to, temporary, pid } of log.changes(mostUnderway)) {
    const folder = dirname(to ?? path);
    const left = join(folder, temporary);
    if (!isInside(left, root) || isAlive(pid) || !lstatSync(left, { throwIfNoEntry: false })?.isFile())
      continue;
    try {
      // Behind a link by now there is nothing of ours.
      if (realpathSync.native(folder) !== folder) continue;
      unlinkSync(left);
      log.drop(id);
    } catch {
      // It stays.
    }
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
