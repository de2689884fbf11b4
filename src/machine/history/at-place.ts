import { existsSync } from 'node:fs';
import { basename, dirname, join, sep } from 'node:path';
import { removeMade, type Place } from '../paths/place.ts';
import { refusal, shownPath } from '../paths/shown-path.ts';
import type { RootedWorkspace } from '../paths/workspace.ts';
import { changedSince } from './write-failure.ts';

interface Placing {
  readonly workspace: RootedWorkspace;
  readonly dryRun: boolean;
  /** Whether folders on the way that are missing are made. */
  readonly make: boolean;
}

/**
 * Works at the real path that a change was at. Undefined in a dry run, where the folder would be made first. Throws
 * STALE_FILE when the path leads elsewhere by now, and what the gate throws.
 */
export async function atPlace<T>(
  path: string,
  { workspace, dryRun, make }: Placing,
  work: (place: Place) => Promise<T>,
): Promise<T | undefined> {
  // Before folders are made where it leads now. With a slash at the end, a link there is followed.
  const folder = await workspace.resolve(dirname(path) + sep);
  if (folder !== dirname(path))
    throw refusal('STALE_FILE', path, `the path now leads to ${shownPath(join(folder, basename(path)))}.`);
  if (dryRun && make && !existsSync(folder)) return undefined;
  const place = await workspace.openPlace(path, { follow: false, make: make && !dryRun });
  try {
    // The folder was swapped for a link in this moment.
    if (place.path !== path) throw changedSince(path);
    return await work(place);
  } catch (error) {
    removeMade(place.made);
    throw error;
  } finally {
    await place.folder.handle.close();
  }
}
