import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { removeMade, type Place } from '../paths/place.ts';
import type { RootedWorkspace } from '../paths/workspace.ts';

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
  if (dryRun && make && !existsSync(dirname(path))) return undefined;
  const place = await workspace.openPlace(path, { follow: false, make: make && !dryRun, exactly: true });
  try {
    return await work(place);
  } catch (error) {
    removeMade(place.made);
    throw error;
  } finally {
    await place.folder.handle.close();
  }
}
