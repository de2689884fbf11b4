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
/** What is neither macOS nor Windows is much like Linux. */
export const thisPlatform = (): Platform =>
  process.platform === 'win32' || process.platform === 'darwin' ? process.platform : 'linux';

type Env = Readonly<Record<string, string | undefined>>;
type FolderKind = 'cache' | 'state' | 'config';

/** By platform: the variable that says where such folders are, and where they are without it. */
const places = {
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

/** Where this user's caches belong. Undefined when no absolute path can be made: then nothing is cached. */
export function cacheFolder(platform: Platform, env: Env, home: string): string | undefined {
  const folder = ownFolder('cache', platform, env, home);
  return folder && platform === 'win32' ? win32.join(folder, 'Cache') : folder;
}

/** Where this user's state belongs, as `cacheFolder`; without one no change can be journaled. */
export function stateFolder(platform: Platform, env: Env, home: string): string | undefined {
  const folder = ownFolder('state', platform, env, home);
  // Windows has one folder for both.
  return folder && platform === 'win32' ? win32.join(folder, 'State') : folder;
}

/**
 * Where all that is ours may lie: where variables say so, and without them, as another server may be started.
 */
export const ownFolders = (platform: Platform, env: Env, home: string): string[] =>
  (['cache', 'state', 'config'] as const)
    .flatMap((kind) => [ownFolder(kind, platform, env, home), ownFolder(kind, platform, {}, home)])
    .filter((folder) => folder !== undefined);

/** The folder of a kind that is ours; undefined when no absolute path can be made of what is known. */
export function ownFolder(kind: FolderKind, platform: Platform, env: Env, home: string): string | undefined {
  const { isAbsolute, join } = platform === 'win32' ? win32 : posix;
  const [variable, usual] = places[kind][platform];
  const named = env[variable];
  // The XDG rules say that a relative path in the variable is to be ignored.
  if (named && isAbsolute(named)) return join(named, 'toolcrib');
  return isAbsolute(home) && home !== noHome ? join(home, usual, 'toolcrib') : undefined;
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
  return folder !== undefined && isPrivate(folder)
    ? readPlain(pathIn(folder, name), (facts) => isOurs(facts))
    : undefined;
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

/** Writes a file into a private folder, which is made when it is missing. Does nothing where it cannot. */
export function writePrivate(folder: string | undefined, name: string, content: string | Buffer): void {
  try {
    if (folder !== undefined && makePrivate(folder)) replacePrivate(folder, name, content);
  } catch {
    // A full disk, a read-only home: work goes on without a cache, only slower.
  }
}

/**
 * Writes a file into a private folder; readers see the old or the new content, with `flush` whenever the
 * power goes. Throws what the system says.
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
 * Makes a folder that nobody else can open, when it is missing; says whether it is one. Throws what `mkdir`
 * does.
 */
export function makePrivate(folder: string): boolean {
  if (isPrivate(folder)) return true;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return isPrivate(folder);
}

/** Says if private files can be kept in a folder. Where it is not there yet, the nearest above it counts. */
export function canKeep(folder: string): boolean {
  try {
    if (lstatSync(folder, { throwIfNoEntry: false }) && !isPrivate(folder)) return false;
    let above = folder;
    while (!statSync(above, { throwIfNoEntry: false }) && dirname(above) !== above) above = dirname(above);
    accessSync(above, constants.W_OK | constants.X_OK);
    return statSync(above).isDirectory();
  } catch {
    // It cannot be written, or even looked at.
    return false;
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
  const names = isPrivate(folder) ? readdirSync(folder) : [];
  if (names.length > most) for (const name of names) discard(pathIn(folder, name));
}

// Windows has neither; there the folder's access list keeps others out.
export const noFollow = constants.O_NOFOLLOW ?? 0;
export const nonBlocking = constants.O_NONBLOCK ?? 0;

const pathIn = (folder: string, name: string): string => `${folder}/${name}`;

/**
 * Whoever can write to the folder could tell us what to run: it must be ours, a real folder, and closed to
 * others. To their looking as well: a folder that we make is, and one that came with a project (git gives it
 * 0755) is not.
 */
export function isPrivate(folder: string): boolean {
  try {
    const facts = lstatSync(folder, { throwIfNoEntry: false });
    return facts?.isDirectory() === true && isOurs(facts, 0o077);
  } catch {
    // Below a file, or below what we may not look into: not there, for us.
    return false;
  }
}

/**
 * Permissions in a mode: none on Windows, where access lists say who may write. libuv makes up 0666 there
 * for whatever is not marked read-only, a folder like a file.
 */
export const permissionsIn = (mode: number, platform: Platform = thisPlatform()): number =>
  platform === 'win32' ? 0 : mode & 0o7777;

/** Whether it belongs to this user, and nobody else has these rights to it. */
export function isOurs({ uid, mode }: Stats, others = 0o022): boolean {
  const user = process.geteuid?.();
  return user === undefined || (uid === user && (mode & others) === 0);
}
