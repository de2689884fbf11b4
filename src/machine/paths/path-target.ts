import { lstatSync, mkdirSync, readlinkSync, realpathSync, rmdirSync } from 'node:fs';
import { basename, dirname, join, relative, sep } from 'node:path';
import { ToolcribError } from '../../core/errors.ts';
import { openAt, unreadable, type OpenedFile } from './opened.ts';
import { gitFolderEffect, inGitFolder, protectedError, type Consent } from './protected-paths.ts';
import { codeOf, locate } from './real-path.ts';
import { refusal, displayPath } from './display-path.ts';

/**
 * Where something is or will be: a name in a folder that is held open, so that nothing on the way to it can be swapped.
 * Whoever opened it closes `folder.handle`.
 */
export interface PathTarget {
  readonly folder: OpenedFile;
  readonly name: string;
  /** Its real absolute path, for people and for the journal. */
  readonly path: string;
  /**
   * The path to use in system calls: below `folder.stablePath`. What lies there may have been swapped for a symbolic
   * link since: whoever reads opens it with O_NOFOLLOW, whoever writes renames onto it.
   */
  readonly at: string;
  /** The root it lies in: the outermost, where roots lie in each other. */
  readonly root: string;
  /** The real paths of the folders that were made for it, outermost first. */
  readonly made: readonly string[];
  /** A person has said that it is to be changed although git takes it for part of a repository. */
  readonly confirmed: boolean;
}

interface Opening {
  readonly make: boolean;
  /** Throws when the place is not for the model. `folder` is the deepest one that exists on the way there. */
  check(place: string, folder: OpenedFile): void | Promise<void>;
  readonly consent: Consent;
  readonly root?: string;
}

/**
 * Opens the folder that a real path is in. With `make`, the folders that are missing are made one by one, each inside
 * its parent, which is already open: what is swapped on the way is never followed. When that fails half-way, those made
 * so far are removed. `check` is asked before anything is made, and again about what came of it. Throws what it and
 * `lookOnceMore` throw, PATH_NOT_FOUND, PATH_DENIED, ARG_INVALID, and WRITE_FAILED for a folder that cannot be made.
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
 * To be asked in the same step as what changes a place, with nothing waited for in between: what was true when it was
 * opened may no longer be. Throws STALE_FILE when its folder has been moved or removed, and so is not the one that
 * was allowed; and PATH_PROTECTED when the place has come to be part of a repository, or would complete one, of which
 * other calls have made the rest, and no person has said that it is to be changed even so.
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

/** Some microseconds where the system tells the path of what is open. */
function isStillThere({ path, stablePath, stat }: OpenedFile): boolean {
  try {
    if (stablePath !== path) return readlinkSync(stablePath) === path;
    const now = lstatSync(path);
    return now.ino === stat.ino && now.dev === stat.dev && realpathSync.native(path) === path;
  } catch {
    // It is no longer there, or cannot be looked at, which comes to the same.
    return false;
  }
}

/** Removes folders that were made for a place, innermost first, when nothing comes of it. What is not empty stays. */
export function removeMade(made: readonly string[]): void {
  for (const path of made.toReversed()) {
    try {
      // Not where a link leads by now.
      if (realpathSync.native(path) === path) rmdirSync(path);
    } catch {
      // Another call has put something into it, or somebody has moved it.
      return;
    }
  }
}

/** The folders between a folder and what lies somewhere below it, outermost first. */
export function foldersAbove(path: string, top: string): string[] {
  const steps = relative(top, dirname(path)).split(sep).filter(Boolean);
  return steps.map((_, at) => join(top, ...steps.slice(0, at + 1)));
}

/** Whether it is new: another call may just have made it. In the same step as the look before it. */
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
