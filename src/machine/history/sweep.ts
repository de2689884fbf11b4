import { lstatSync, unlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { noConsent } from '../paths/consent.ts';
import { isInside } from '../paths/inside.ts';
import { openPlaceAt } from '../paths/place.ts';
import type { Log } from './log.ts';

/** So many of the last changes may have been on their way when their process was killed. */
const mostUnderway = 200;

/** Removes what killed processes have left beside files below a root: files that are called as ours are. */
export async function sweep(log: Log, root: string): Promise<void> {
  for (const { id, path, to, temporary, pid } of log.changes(mostUnderway)) {
    const left = join(dirname(to ?? path), temporary);
    if (!isInside(left, root) || isAlive(pid) || !lstatSync(left, { throwIfNoEntry: false })?.isFile())
      continue;
    const isThat = (real: string) =>
      real === left ? Promise.resolve() : Promise.reject(new Error('leads elsewhere'));
    const opening = openPlaceAt(left, left, { make: false, check: isThat, consent: noConsent });
    // Behind a link by now, or not allowed: then there is nothing of ours to remove.
    const place = await opening.catch(() => undefined);
    if (!place) continue;
    try {
      unlinkSync(place.at);
      log.drop(id);
    } catch {
      // It stays.
    } finally {
      await place.folder.handle.close();
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
