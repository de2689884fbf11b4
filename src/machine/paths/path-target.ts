import { lstatSync, mkdirSync, readlinkSync, realpathSync, rmdirSync } from 'node:fs';
import { basename, dirname, join, relative, sep } from 'node:path';
import { ToolcribError } from '../../core/errors.ts';
import { openAt, unreadable, type OpenedFile } from './opened.ts';
import { gitFolderEffect, inGitFolder, protectedError, type Consent } from './protected-paths.ts';
import { codeOf, locate } from './real-path.ts';
import { refusal, displayPath } from './display-path.ts';

/**
 * The place of something that exists or will be made: a name in a folder that is held open, so that nothing
 * on the way to it can be swapped. Whoever opened it closes `folder.handle`.
 */
export interface PathTarget {
  readonly folder: OpenedFile;
  readonly name: string;
  /** The real absolute path, for people and for the journal. */
  readonly path: string;
  /**
   * The path for system calls, below `folder.stablePath`. What lies there may have been replaced by a
   * symbolic link since: readers open it with O_NOFOLLOW, writers rename onto it.
   */
  readonly at: string;
  /** The root that it lies in: the outermost, where roots lie in each other. */
  readonly root: string;
  /** The real paths of the folders that were made for it, outermost first. */
  readonly made: readonly string[];
  /** True where a person agreed to change it although git takes it for part of a repository. */
  readonly confirmed: boolean;
}

interface Opening {
  readonly make: boolean;
  /**
   * Throws when the model may not use the place. `folder` is the deepest one that exists on the way there.
   */
  check(place: string, folder: OpenedFile): void | Promise<void>;
  readonly consent: Consent;
  readonly root?: string;
}

/**
 * Opens the folder that a real path is in. With `make`, missing folders are made one by one, each inside its
 * open parent, so that nothing swapped on the way is followed. When that fails half-way, those made so far
 * are removed. `check` is called before anything is made, and again with the result. Throws what it and
 * `lookOnceMore` throw, PATH_NOT_FOUND, PATH_DENIED, ARG_INVALID, and WRITE_FAILED for a folder that cannot
 * be made.
 */
export async function openPlaceAt(
  real: string,
  given: string,
  { make, check, consent, root = dirname(real) }: Opening,
): Promise<PathTarget> {
  const name = basename(real);
  const parent = locate(dirname(real));
  const missing = relative(parent.there, parent.real).split(sep).filter(Boolean);
  if (missing.length > 0 && !make) throw withoutFolder(given, parent.real);
  let folder = await openAt(parent.there, given);
  const made: string[] = [];
  try {
    const planned = join(folder.path, ...missing, name);
    await check(planned, folder);
    const confirmed = inGitFolder(planned) && consent(planned, gitFolderEffect);
    for (const step of missing) {
      const path = join(folder.path, step);
      lookOnceMore({ folder, path, confirmed }, given);
      if (makeFolder(join(folder.stablePath, step), given)) made.push(path);
      const inner = await openAt(join(folder.stablePath, step), given);
      await folder.handle.close();
      folder = inner;
    }
    const path = join(folder.path, name);
    if (missing.length > 0) await check(path, folder);
    return { folder, name, path, at: join(folder.stablePath, name), root, made, confirmed };
  } catch (error) {
    await folder.handle.close();
    removeMade(made);
    throw error;
  }
}

/**
 * Checks a place again, in the same step as what changes it and with nothing awaited in between, because what
 * was true when it was opened may no longer be. Throws STALE_FILE when its folder has been moved or removed,
 * and so is not the one that was allowed. Throws PATH_PROTECTED when it has become part of a repository, or
 * would complete one of which other calls have made the rest, and no person has agreed to that.
 */
export function lookOnceMore(
  place: Pick<PathTarget, 'folder' | 'path' | 'confirmed'>,
  given = place.path,
): void {
  if (!isStillThere(place.folder))
    throw refusal(
      'STALE_FILE',
      given,
      `the folder that it is in was moved or removed meanwhile; nothing was changed.`,
      'Look where it is now, and try again.',
    );
  if (!place.confirmed && inGitFolder(place.path)) throw protectedError(given, gitFolderEffect);
}

/**
 * True while an open folder is still at its path. Takes some microseconds where the system reports the path
 * of what is open.
 */
function isStillThere({ path, stablePath, stat }: OpenedFile): boolean {
  try {
    if (stablePath !== path) return readlinkSync(stablePath) === path;
    const now = lstatSync(path);
    return now.ino === stat.ino && now.dev === stat.dev && realpathSync.native(path) === path;
  } catch {
    // A folder that cannot be examined counts as gone.
    return false;
  }
}

/**
 * Removes the folders that were made for a place when nothing comes of it, innermost first. A folder that is
 * not empty stays.
 */
export function removeMade(made: readonly string[]): void {
  for (const path of made.toReversed()) {
    try {
      // The path must not lead through a link by now.
      if (realpathSync.native(path) === path) rmdirSync(path);
    } catch {
      // Another call has put something into it, or somebody has moved it.
      return;
    }
  }
}

/** The folders between a folder and something below it, outermost first. */
export function foldersAbove(path: string, top: string): string[] {
  const steps = relative(top, dirname(path)).split(sep).filter(Boolean);
  return steps.map((_, at) => join(top, ...steps.slice(0, at + 1)));
}

/**
 * Makes a folder; false where it exists, as another call may just have made it. Runs in the same step as the
 * check before it.
 */
function makeFolder(path: string, given: string): boolean {
  try {
    mkdirSync(path);
    return true;
  } catch (error) {
    const code = codeOf(error);
    if (code === 'EEXIST') return false;
    if (code === 'ENOENT') throw withoutFolder(given, dirname(path));
    if (code === 'ENAMETOOLONG' || code === 'EACCES' || code === 'EPERM') throw unreadable(given, code);
    throw refusal('WRITE_FAILED', given, `a folder on the way could not be made (${code}).`);
  }
}

const withoutFolder = (given: string, folder: string): ToolcribError =>
  refusal(
    'PATH_NOT_FOUND',
    given,
    `the folder ${displayPath(basename(folder))} that it would be in does not exist.`,
  );
