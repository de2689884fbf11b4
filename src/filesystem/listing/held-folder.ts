import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  open,
  opendirSync,
  openSync,
  readdir,
  readdirSync,
  type Dirent,
  type Stats,
} from 'node:fs';
import { sep } from 'node:path';
import { ToolcribError } from '../../core/errors.ts';
import { decode } from '../../machine/decode.ts';
import type { Opened } from '../../machine/paths/opened.ts';
import { onPseudoFilesystem } from '../../machine/paths/pseudo-filesystem.ts';

/** A folder that stays what it was when it was opened, for as long as somebody holds it. */
export interface HeldFolder {
  /** Leads to it in system calls. Where the system has no such path it is the real path. */
  readonly at: string;
  readonly stat: Pick<Stats, 'dev' | 'size'>;
  /** Whether the disk answers at once, so that it is asked without a thread in between. */
  readonly quick: boolean;
  hold(): void;
  /** Closes it when nobody else holds it. */
  release(): void;
}

/** What a folder has, in the order of the system; `name` is text even where the system has bytes that are none. */
export interface Entries {
  readonly found: readonly Dirent[];
  /** The bytes of those names that are no UTF-8. */
  readonly bytes: ReadonlyMap<string, Buffer>;
}

/** A folder that somebody else opened, and closes. */
export const heldElsewhere = ({ stablePath, stat }: Opened, quick: boolean): HeldFolder => ({
  at: stablePath,
  stat,
  quick,
  hold() {},
  release() {},
});

/**
 * Opens a folder by its name in another one, never through a link; held once. Fails with the system's error, and
 * PATH_PROTECTED for one that shows processes or devices. No promise where none is needed: they would take longer than
 * all the rest.
 */
export function openBelow(
  parent: HeldFolder,
  name: string,
  bytes?: Buffer,
): HeldFolder | Promise<HeldFolder> {
  const path = pathBelow(parent, name, bytes);
  if (process.platform !== 'linux') return checked(namedFolder(path), parent, name);
  if (parent.quick) return checked(new NumberedFolder(openSync(path, onlyFolders), true), parent, name);
  return openFolder(path).then((number) => checked(new NumberedFolder(number, false), parent, name));
}

function checked(opened: HeldFolder, parent: HeldFolder, name: string): HeldFolder | Promise<HeldFolder> {
  if (opened.stat.dev === parent.stat.dev) return opened;
  return onPseudoFilesystem(opened.at, opened.stat.dev).then(
    (pseudo) => {
      if (!pseudo) return opened;
      opened.release();
      throw new ToolcribError('PATH_PROTECTED', `${name}: shows processes, devices or kernel settings.`);
    },
    (error: unknown) => {
      opened.release();
      throw error;
    },
  );
}

/** The path of something in a folder, for system calls. */
export function pathBelow({ at }: HeldFolder, name: string, bytes?: Buffer): string | Buffer {
  return bytes ? Buffer.concat([Buffer.from(at + sep), bytes]) : at + sep + name;
}

const onlyFolders = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/** In a thread: a file system that does not answer keeps nobody else waiting. */
const openFolder = (path: string | Buffer): Promise<number> =>
  new Promise((resolve, reject) => {
    open(path, onlyFolders, (error, number) => (error ? reject(error) : resolve(number)));
  });

/** A class, unlike most things here: there can be thousands of them a second. */
class NumberedFolder implements HeldFolder {
  readonly at: string;
  readonly stat: HeldFolder['stat'];
  readonly quick: boolean;
  readonly #number: number;
  #holders = 1;

  constructor(number: number, quick: boolean) {
    this.#number = number;
    this.quick = quick;
    this.at = `/proc/${process.pid}/fd/${number}`;
    const { dev, size } = fstatSync(number);
    this.stat = { dev, size };
  }

  hold(): void {
    this.#holders++;
  }

  release(): void {
    if (--this.#holders === 0) closeSync(this.#number);
  }
}

function namedFolder(path: string | Buffer): HeldFolder {
  const stat = lstatSync(path);
  if (!stat.isDirectory()) throw Object.assign(new Error('is no folder'), { code: 'ENOTDIR' });
  return { at: String(path), stat, quick: false, hold() {}, release() {} };
}

/**
 * Bytes of a folder itself, from which on it is read in parts. Linux file systems need 20 to 40 for an entry, so that
 * reading fewer at once takes no more than a few milliseconds.
 */
const largeFolder = 256 * 1024;
const partLength = 1000;

/** Whether `entriesOf` gives a folder in more than one part. */
export const isLarge = ({ stat }: HeldFolder): boolean =>
  stat.size > largeFolder || process.platform === 'win32';

/** What a folder has; a large one in parts, so that it takes neither much memory nor much time at once. */
export function* partsOf(folder: HeldFolder): Generator<Entries | Promise<Entries>> {
  if (!isLarge(folder)) {
    yield folder.quick ? whole(folder) : wholeInThread(folder);
    return;
  }
  const listing = opendirSync(folder.at, { encoding: bytewise, bufferSize: partLength });
  try {
    for (;;) {
      const found: Dirent[] = [];
      while (found.length < partLength) {
        const next = listing.readSync();
        if (!next) break;
        found.push(next);
      }
      if (found.length === 0) return;
      yield inBytes(found);
    }
  } finally {
    listing.closeSync();
  }
}

function whole({ at }: HeldFolder): Entries {
  const found = readdirSync(at, { withFileTypes: true });
  return isLossy(found)
    ? inBytes(readdirSync(at, { withFileTypes: true, encoding: bytewise }))
    : { found, bytes: noBytes };
}

async function wholeInThread({ at }: HeldFolder): Promise<Entries> {
  const found = await listAll(at, 'utf8');
  return isLossy(found) ? inBytes(await listAll(at, bytewise)) : { found, bytes: noBytes };
}

/** What is no UTF-8 comes with this character in its place. */
const isLossy = (found: readonly Dirent[]): boolean => found.some(({ name }) => name.includes('\ufffd'));

/** With a callback: promises of the system's calls take twice the memory, which counts for thousands of folders. */
const listAll = (path: string, encoding: BufferEncoding): Promise<Dirent[]> =>
  new Promise((resolve, reject) => {
    readdir(path, { withFileTypes: true, encoding }, (error, found) =>
      error ? reject(error) : resolve(found),
    );
  });

const noBytes: ReadonlyMap<string, Buffer> = new Map();
/** One character for each byte. Windows and macOS have names in Unicode. */
const bytewise = process.platform === 'linux' ? 'latin1' : 'utf8';

function inBytes(found: Dirent[]): Entries {
  const bytes = new Map<string, Buffer>();
  for (const entry of bytewise === 'latin1' ? found : []) {
    if (!/[\u0080-\u00ff]/.test(entry.name)) continue;
    const raw = Buffer.from(entry.name, 'latin1');
    entry.name = decode(raw);
    if (!raw.equals(Buffer.from(entry.name))) bytes.set(entry.name, raw);
  }
  return { found, bytes };
}
