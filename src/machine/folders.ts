import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  type Stats,
} from 'node:fs';
import { dirname, posix, win32 } from 'node:path';
import type { Platform } from '../core/discoverer.ts';
import { variable } from './variables.ts';

type Env = Readonly<Record<string, string | undefined>>;

/**
 * Where this user's caches belong on a platform: below XDG_CACHE_HOME or ~/.cache, ~/Library/Caches,
 * %LOCALAPPDATA%. Undefined when no absolute path can be made of what is known; then nothing is cached.
 */
export function cacheFolder(platform: Platform, env: Env, home: string): string | undefined {
  return ownFolder(platform, env, home, {
    win32: ['toolcrib', 'Cache'],
    darwin: ['Library', 'Caches', 'toolcrib'],
    xdg: { variable: 'XDG_CACHE_HOME', otherwise: ['.cache'] },
  });
}

/**
 * Where this user's state belongs on a platform, which unlike a cache cannot be made anew: below XDG_STATE_HOME or
 * ~/.local/state, ~/Library/Application Support, %LOCALAPPDATA%. Undefined when no absolute path can be made of what is
 * known; then no change can be journaled.
 */
export function stateFolder(platform: Platform, env: Env, home: string): string | undefined {
  return ownFolder(platform, env, home, {
    win32: ['toolcrib', 'State'],
    darwin: ['Library', 'Application Support', 'toolcrib'],
    xdg: { variable: 'XDG_STATE_HOME', otherwise: ['.local', 'state'] },
  });
}

/** The steps to a folder: on Windows below the local application data, on macOS below the home folder. */
interface Steps {
  readonly win32: readonly string[];
  readonly darwin: readonly string[];
  readonly xdg: { readonly variable: string; readonly otherwise: readonly string[] };
}

function ownFolder(platform: Platform, env: Env, home: string, steps: Steps): string | undefined {
  const { isAbsolute, join } = platform === 'win32' ? win32 : posix;
  const absolute = (path: string | undefined) => (path !== undefined && isAbsolute(path) ? path : undefined);
  const own = absolute(home);
  if (platform === 'win32') {
    const local =
      absolute(variable({ env, platform }, 'LOCALAPPDATA')) ?? (own && join(own, 'AppData', 'Local'));
    return local && join(local, ...steps.win32);
  }
  if (platform === 'darwin') return own && join(own, ...steps.darwin);
  // The XDG rules say that a relative path in the variable is to be ignored.
  const folder = absolute(env[steps.xdg.variable]) ?? (own && join(own, ...steps.xdg.otherwise));
  return folder && join(folder, 'toolcrib');
}

/** What was kept under a name; undefined when nothing was, or it cannot be trusted or understood. */
export function readCache(folder: string | undefined, name: string): unknown {
  const content = readPrivate(folder, name);
  try {
    return content && JSON.parse(content.toString('utf8'));
  } catch {
    // A cache is only ever a saving: one that is damaged is made anew.
    return undefined;
  }
}

/** Keeps a JSON value under a name. Does nothing where it cannot. */
export function writeCache(folder: string | undefined, name: string, value: unknown): void {
  writePrivate(folder, name, JSON.stringify(value));
}

/** The bytes of a file in a private folder; undefined unless file and folder are ours alone. */
export function readPrivate(folder: string | undefined, name: string): Buffer | undefined {
  return folder !== undefined && isPrivate(folder) ? readPlain(pathIn(folder, name), isOurs) : undefined;
}

/** The bytes of a regular file; undefined for a link, for what cannot be read, and for what is not fit. */
export function readPlain(path: string, isFit: (facts: Stats) => boolean): Buffer | undefined {
  let opened: number | undefined;
  try {
    opened = openSync(path, constants.O_RDONLY | noFollow | nonBlocking);
    const facts = fstatSync(opened);
    return facts.isFile() && isFit(facts) ? readFileSync(opened) : undefined;
  } catch {
    // Not there, or not readable: the same as never kept.
    return undefined;
  } finally {
    if (opened !== undefined) closeSync(opened);
  }
}

/** Writes a file into a private folder, which is made when it is missing; readers see the old or the new content. */
export function writePrivate(folder: string | undefined, name: string, content: string | Buffer): void {
  if (folder === undefined) return;
  const temporary = pathIn(folder, `.${globalThis.crypto.randomUUID()}.tmp`);
  try {
    if (!makePrivate(folder)) return;
    createPrivate(temporary, content);
    renameSync(temporary, pathIn(folder, name));
  } catch {
    // A full disk, a read-only home: work goes on without a cache, only slower.
    discard(temporary);
  }
}

/**
 * Makes a folder that nobody else can open, when it is missing. Says whether it is one: ours, no symbolic link, and
 * closed to others. One that others can look into, as `mkdir` makes it, is closed as long as it is empty: a project with
 * such folders in it brings files as well. Throws what the system does.
 */
export function makePrivate(folder: string): boolean {
  makeFolders(folder);
  return isPrivate(folder) || isClosedNow(folder);
}

/**
 * Makes a folder and what is missing above it, closed to others. Throws what the system does. Level by level: `recursive`
 * of Node never returns where the system says of a folder that is there that it is not (/proc).
 */
export function makeFolders(folder: string): void {
  const missing: string[] = [];
  for (let at = folder; !statSync(at, { throwIfNoEntry: false }); at = dirname(at)) {
    missing.unshift(at);
    if (dirname(at) === at) break;
  }
  for (const level of missing) {
    try {
      mkdirSync(level, { mode: 0o700 });
    } catch (error) {
      // Another of us was quicker.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
  // A file, or a link to nothing: as mkdir says of what is below one.
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
    throw Object.assign(new Error(`${folder} is no folder`), { code: 'ENOTDIR' });
}

function isClosedNow(folder: string): boolean {
  let opened: number | undefined;
  try {
    opened = openSync(folder, constants.O_RDONLY | (constants.O_DIRECTORY ?? 0) | noFollow);
    // What nobody else can write to cannot be filled in between.
    if (!isOurs(fstatSync(opened)) || readdirSync(folder).length > 0) return false;
    fchmodSync(opened, 0o700);
    return isPrivate(folder);
  } catch {
    // A link, a folder of somebody else, or a file system without permissions.
    return false;
  } finally {
    if (opened !== undefined) closeSync(opened);
  }
}

/** Makes a file that nobody else can open. Throws when something is at the path, be it a symbolic link to nothing. */
export function createPrivate(path: string, content: string | Buffer): void {
  const opened = openSync(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | noFollow, 0o600);
  try {
    writeFileSync(opened, content);
  } finally {
    closeSync(opened);
  }
}

/** Removes a file; where it cannot, it stays. */
export function discard(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // What could not be made need not be removed, and a full disk may refuse even this.
  }
}

/** Empties a private folder that holds more than `most` files. */
export function prunePrivate(folder: string, most: number): void {
  try {
    if (!isPrivate(folder)) return;
    const names = readdirSync(folder);
    if (names.length <= most) return;
    for (const name of names) rmSync(pathIn(folder, name), { force: true });
  } catch {
    // A file where a folder should be, or one that cannot be read: nothing was kept there, either.
  }
}

// Windows has neither; there the folder's access list keeps others out.
const noFollow = constants.O_NOFOLLOW ?? 0;
const nonBlocking = constants.O_NONBLOCK ?? 0;

const pathIn = (folder: string, name: string): string => `${folder}/${name}`;

/**
 * Whoever can write to the folder could tell us what to run: it must be ours, a real folder, and closed to others. To
 * their looking as well: a folder that we make is, and one that came with a project (git gives it 0755) is not.
 */
export function isPrivate(folder: string): boolean {
  const facts = factsOf(folder);
  if (!facts?.isDirectory() || !isOurs(facts)) return false;
  return process.geteuid === undefined || (facts.mode & 0o077) === 0;
}

function factsOf(folder: string) {
  try {
    return lstatSync(folder, { throwIfNoEntry: false });
  } catch {
    // Below a file, or below what we may not look into: not there, for us.
    return undefined;
  }
}

function isOurs(facts: { readonly uid: number; readonly mode: number }): boolean {
  const uid = process.geteuid?.();
  return uid === undefined || (facts.uid === uid && (facts.mode & 0o022) === 0);
}
