import { lstatSync, readlinkSync, realpathSync } from 'node:fs';
import { ToolcribError } from '../../core/errors.ts';
import { gitFolderEffect, inGitFolder } from './git-folder.ts';
import type { Opened } from './opened.ts';
import { protectedError } from './protected-paths.ts';
import { shownPath } from './shown-path.ts';

/** As much of a `Place` as it takes. */
interface Looked {
  readonly folder: Opened;
  readonly path: string;
  readonly confirmed: boolean;
}

/**
 * To be asked in the same step as what changes a place, with nothing waited for in between: what was true when the place
 * was opened may no longer be. Throws STALE_FILE when its folder has been moved or removed, and so is not the one that
 * was allowed; and PATH_PROTECTED when the place has come to be part of a repository, or would complete one, of which
 * other calls have made the rest, and no person has said that it is to be changed even so.
 */
export function lookOnceMore(place: Looked, given = place.path): void {
  if (!isStillThere(place.folder))
    throw new ToolcribError(
      'STALE_FILE',
      `${shownPath(given)}: the folder that it is in was moved or removed meanwhile; nothing was changed.`,
      'Look where it is now, and try again.',
    );
  if (!place.confirmed && inGitFolder(place.path)) throw protectedError(given, gitFolderEffect);
}

/** Some microseconds where the system tells the path of what is open. */
function isStillThere({ path, stablePath, stat }: Opened): boolean {
  try {
    if (stablePath !== path) return readlinkSync(stablePath) === path;
    const now = lstatSync(path);
    return now.ino === stat.ino && now.dev === stat.dev && realpathSync.native(path) === path;
  } catch {
    // It is no longer there, or cannot be looked at, which comes to the same.
    return false;
  }
}
