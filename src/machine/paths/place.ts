import { mkdirSync, rmdirSync } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { ToolcribError } from '../../core/errors.ts';
import { lookOnceMore } from './last-look.ts';
import { noConsent, type Consent } from './consent.ts';
import { openAt, unreadable, type Opened } from './opened.ts';
import { codeOf } from './real-path.ts';
import { shownPath } from './shown-path.ts';

/**
 * Where something is or will be: a name in a folder that is held open, so that nothing on the way to it can be swapped.
 * Whoever opened it closes `folder.handle`.
 */
export interface Place {
  readonly folder: Opened;
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
  /** A person has said that it is to be changed although others run it. */
  readonly confirmed: boolean;
}

/** Throws when the place is not for the model. `folder` is the deepest one that exists on the way there. */
type Check = (place: string, folder: Opened) => Promise<void>;

interface Opening {
  readonly make: boolean;
  readonly check: Check;
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
): Promise<Place> {
  const name = basename(real);
  const deepest = await openDeepest(dirname(real), given, make);
  const { missing } = deepest;
  let { folder } = deepest;
  const isConfirmed = consent.agreed(join(folder.path, ...missing, name));
  const made: string[] = [];
  try {
    await check(join(folder.path, ...missing, name), folder);
    if ([...missing, name].some(isTooLong)) throw unreadable(given, 'ENAMETOOLONG');
    for (const step of missing) {
      const parent = folder;
      const path = join(parent.path, step);
      lookOnceMore({ folder: parent, path, confirmed: isConfirmed }, given);
      const isNew = makeFolder(join(parent.stablePath, step), given);
      if (isNew) made.push(path);
      folder = await openAt(join(parent.stablePath, step), given, 'folder');
      await parent.handle.close();
    }
    const path = join(folder.path, name);
    if (missing.length > 0) await check(path, folder);
    return { folder, name, path, at: join(folder.stablePath, name), root, made, confirmed: isConfirmed };
  } catch (error) {
    await folder.handle.close();
    await removeMade(made);
    throw error;
  }
}

/**
 * Removes folders that were made for a place, innermost first, as far as nothing is in them: when nothing comes of it.
 * Never throws; no more than an empty folder remains.
 */
export async function removeMade(made: readonly string[]): Promise<void> {
  for (const path of made.toReversed()) {
    const isThat: Check = (real) =>
      real === path ? Promise.resolve() : Promise.reject(new Error('leads elsewhere'));
    try {
      const place = await openPlaceAt(path, path, { make: false, check: isThat, consent: noConsent });
      try {
        rmdirSync(place.at);
      } finally {
        await place.folder.handle.close();
      }
    } catch {
      // Another call has put something into it, or somebody has moved it.
      return;
    }
  }
}

/** The deepest folder on the way that exists, open, and the names of those that do not; without `make` all must. */
async function openDeepest(path: string, given: string, make: boolean) {
  const missing: string[] = [];
  let again = 3;
  for (let here = path; ;) {
    try {
      return { folder: await openAt(here, given, 'folder'), missing };
    } catch (error) {
      // Only what is not there can be made; anything else on the way is a failure, and said so.
      if (here === dirname(here)) throw error;
      if (await isThere(here)) {
        // Another call may have made it since.
        if (again-- > 0 && error instanceof ToolcribError && error.code === 'PATH_NOT_FOUND') continue;
        throw error;
      }
      if (!make) throw withoutFolder(given, here);
      missing.unshift(basename(here));
      here = dirname(here);
    }
  }
}

/** Also what cannot be looked at is there: opening it will say why. */
const isThere = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => true,
    (error: unknown) => codeOf(error) !== 'ENOENT',
  );

/** Whether it is new: another call may just have made it. In the same step as the look before it. */
function makeFolder(path: string, given: string): boolean {
  try {
    mkdirSync(path);
    return true;
  } catch (error) {
    const code = codeOf(error);
    if (code === 'EEXIST') return false;
    if (code === 'ENOENT') throw withoutFolder(given, dirname(path));
    if (code === 'EACCES' || code === 'EPERM')
      throw new ToolcribError(
        'PATH_DENIED',
        `${shownPath(given)}: the system does not let this user make a folder there.`,
      );
    throw new ToolcribError(
      'WRITE_FAILED',
      `${shownPath(given)}: a folder on the way could not be made (${code}).`,
    );
  }
}

const withoutFolder = (given: string, folder: string): ToolcribError =>
  new ToolcribError(
    'PATH_NOT_FOUND',
    `${shownPath(given)}: the folder ${shownPath(basename(folder))} that it would be in does not exist.`,
  );

/** NAME_MAX of every usual file system is 255: bytes, but UTF-16 units on Windows. Asked before anything is made. */
function isTooLong(name: string): boolean {
  return (process.platform === 'win32' ? name.length : Buffer.byteLength(name)) > 255;
}
