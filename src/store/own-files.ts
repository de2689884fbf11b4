import {
  accessSync,
  closeSync,
  constants,
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
import { noHome } from './home.ts';

type Platform = 'linux' | 'darwin' | 'win32';
/** The platform that we run on; anything but macOS and Windows counts as Linux. */
export const thisPlatform = (): Platform =>
  process.platform === 'win32' || process.platform === 'darwin' ? process.platform : 'linux';

type Env = Readonly<Record<string, string | undefined>>;
type FolderKind = 'cache' | 'state' | 'config';

/**
 * The parents of our folders by kind and platform: the variable that names one, and the default below the
 * home folder.
 */
const parentFolders = {
  cache: {
    linux: ['XDG_CACHE_HOME', '.cache'],
    darwin: ['', 'Library/Caches'],
    win32: ['LOCALAPPDATA', 'AppData/Local'],
  },
  state: {
    linux: ['XDG_STATE_HOME', '.local/state'],
    darwin: ['', 'Library/Application Support'],
    win32: ['LOCALAPPDATA', 'AppData/Local'],
  },
  config: {
    linux: ['XDG_CONFIG_HOME', '.config'],
    darwin: ['XDG_CONFIG_HOME', '.config'],
    win32: ['APPDATA', 'AppData/Roaming'],
  },
} as const;

/** The folder of this user's caches. Undefined when no absolute path is known: then nothing is cached. */
export function cacheFolder(platform: Platform, env: Env, home: string): string | undefined {
  const folder = ownFolder('cache', platform, env, home);
  return folder && platform === 'win32' ? win32.join(folder, 'Cache') : folder;
}

/**
 * The folder of this user's state, undefined as for `cacheFolder`; without one no change can be journaled.
 */
export function stateFolder(platform: Platform, env: Env, home: string): string | undefined {
  const folder = ownFolder('state', platform, env, home);
  // On Windows, caches and state have the same parent folder.
  return folder && platform === 'win32' ? win32.join(folder, 'State') : folder;
}

/**
 * Every folder in which toolcrib may have files: those that the variables name, and the defaults, which a
 * server that is started without these variables uses.
 */
export const ownFolders = (platform: Platform, env: Env, home: string): string[] =>
  (['cache', 'state', 'config'] as const)
    .flatMap((kind) => [ownFolder(kind, platform, env, home), ownFolder(kind, platform, {}, home)])
    .filter((folder) => folder !== undefined);

/** The folder of toolcrib for a kind of file; undefined when no absolute path is known. */
export function ownFolder(kind: FolderKind, platform: Platform, env: Env, home: string): string | undefined {
  const { isAbsolute, join } = platform === 'win32' ? win32 : posix;
  const [variable, usual] = parentFolders[kind][platform];
  const configured = env[variable];
  // The XDG specification says that a relative path in the variable is to be ignored.
  if (configured && isAbsolute(configured)) return join(configured, 'toolcrib');
  return isAbsolute(home) && home !== noHome ? join(home, usual, 'toolcrib') : undefined;
}

/** Reads the cached JSON value of a name; undefined when there is none, or it cannot be trusted or parsed. */
export function readCache(folder: string | undefined, name: string): unknown {
  const content = readPrivate(folder, name);
  try {
    return content === undefined ? undefined : JSON.parse(content.toString('utf8'));
  } catch {
    // A damaged cache counts as missing, and is made again.
    return undefined;
  }
}

/** Caches a JSON value under a name. Does nothing where it cannot. */
export function writeCache(folder: string | undefined, name: string, value: unknown): void {
  writePrivate(folder, name, JSON.stringify(value));
}

/** Reads a file in a private folder; undefined unless file and folder are ours alone. */
export function readPrivate(folder: string | undefined, name: string): Buffer | undefined {
  return folder !== undefined && isPrivate(folder)
    ? readPlain(pathIn(folder, name), (facts) => isOurs(facts))
    : undefined;
}

/** Reads a regular file; undefined for a symbolic link, an unreadable file, and one that `isFit` refuses. */
export function readPlain(path: string, isFit: (facts: Stats) => boolean): Buffer | undefined {
  let opened: number | undefined;
  try {
    opened = openSync(path, constants.O_RDONLY | noFollow | nonBlocking);
    const facts = fstatSync(opened);
    return facts.isFile() && isFit(facts) ? readFileSync(opened) : undefined;
  } catch {
    // A missing or unreadable file counts as never written.
    return undefined;
  } finally {
    if (opened !== undefined) closeSync(opened);
  }
}

/** Writes a file into a private folder, which is created when it is missing. Does nothing where it cannot. */
export function writePrivate(folder: string | undefined, name: string, content: string | Buffer): void {
  try {
    if (folder !== undefined && makePrivate(folder)) replacePrivate(folder, name, content);
  } catch {
    // On a full disk or in a read-only home, work goes on without a cache, only slower.
  }
}

/**
 * Writes a file into a private folder so that readers see the old or the new content, with `flush` even after
 * a power failure. Throws the system's error.
 */
export function replacePrivate(folder: string, name: string, content: string | Buffer, flush = false): void {
  const temporary = pathIn(folder, `.${globalThis.crypto.randomUUID()}.tmp`);
  try {
    writeFileSync(temporary, content, { flag: 'wx', mode: 0o600, flush });
    renameSync(temporary, pathIn(folder, name));
  } catch (error) {
    discard(temporary);
    throw error;
  }
}

/**
 * Creates a folder that nobody else can open, when it is missing. False where it is not private afterwards.
 * Throws what `mkdir` throws.
 */
export function makePrivate(folder: string): boolean {
  if (isPrivate(folder)) return true;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return isPrivate(folder);
}

/**
 * True where private files can be written to a folder, or, when it is missing, to its nearest existing
 * parent.
 */
export function canKeep(folder: string): boolean {
  try {
    if (lstatSync(folder, { throwIfNoEntry: false }) && !isPrivate(folder)) return false;
    let parent = folder;
    while (!statSync(parent, { throwIfNoEntry: false }) && dirname(parent) !== parent)
      parent = dirname(parent);
    accessSync(parent, constants.W_OK | constants.X_OK);
    return statSync(parent).isDirectory();
  } catch {
    // The folder cannot be written, or not even examined.
    return false;
  }
}

/** Removes a file; one that cannot be removed stays. */
export function discard(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // The file may never have been written, and a full disk may refuse even a removal.
  }
}

/** Empties a private folder that holds more than `most` files. */
export function prunePrivate(folder: string, most: number): void {
  const names = isPrivate(folder) ? readdirSync(folder) : [];
  if (names.length > most) for (const name of names) discard(pathIn(folder, name));
}

// Windows has neither flag; there the folder's access list keeps others out.
export const noFollow = constants.O_NOFOLLOW ?? 0;
export const nonBlocking = constants.O_NONBLOCK ?? 0;

const pathIn = (folder: string, name: string): string => `${folder}/${name}`;

/**
 * True for a real folder that is ours and closed to others, even for reading. Whoever could write to it could
 * choose what we run. A folder that came with a project does not qualify, as git gives it 0755.
 */
export function isPrivate(folder: string): boolean {
  try {
    const facts = lstatSync(folder, { throwIfNoEntry: false });
    return facts?.isDirectory() === true && isOurs(facts, 0o077);
  } catch {
    // A path below a file or below an unreadable folder counts as missing.
    return false;
  }
}

/**
 * The permission bits of a mode; 0 on Windows, where access lists decide who may write, and libuv makes up
 * 0666 for whatever is not marked read-only.
 */
export const permissionsIn = (mode: number, platform: Platform = thisPlatform()): number =>
  platform === 'win32' ? 0 : mode & 0o7777;

/** True where a file belongs to this user, and nobody else has one of the rights `others` to it. */
export function isOurs({ uid, mode }: Stats, others = 0o022): boolean {
  const user = process.geteuid?.();
  return user === undefined || (uid === user && (mode & others) === 0);
}
