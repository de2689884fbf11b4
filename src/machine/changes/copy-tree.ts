import {
  chmodSync,
  chownSync,
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  futimesSync,
  lchownSync,
  lstatSync,
  lutimesSync,
  mkdirSync,
  openSync,
  readlinkSync,
  readSync,
  symlinkSync,
  utimesSync,
  writeSync,
  type Stats,
} from 'node:fs';
import { copyFile, readdir } from 'node:fs/promises';
import { ToolcribError } from '../../core/errors.ts';
import { createBreath } from '../paths/breath.ts';
import { below, holdFolder } from '../paths/held-folder.ts';
import { codeOf } from '../paths/real-path.ts';
import { shownPath } from '../paths/shown-path.ts';

interface Copying {
  /** For people. */
  readonly shown: string;
  breathe(): Promise<void> | undefined;
}

/** Each level takes two descriptors, of which a process has some thousand. */
const mostLevels = 400;
/** Up to this size, another thread would take longer than the copying. */
const mostAtOnce = 1024 * 1024;

/**
 * Copies a file, link or folder with its mode, times and, where the system lets us, owner. Links are copied as links.
 * Every folder on both sides is held open while it is worked in and every file opened without following, so that what
 * is swapped for a link meanwhile is neither read nor written through: then, and for FIFOs, sockets, devices and more
 * than 400 levels it throws WRITE_FAILED. Throws what the system does, as EEXIST for `to`; a part of the copy may remain.
 */
export async function copyTree(from: string, to: string, shown: string): Promise<void> {
  await copyAny(Buffer.from(from), Buffer.from(to), 0, { shown, breathe: createBreath() });
}

async function copyAny(from: Buffer, to: Buffer, level: number, copying: Copying): Promise<void> {
  await copying.breathe();
  const found = lstatSync(from);
  if (found.isSymbolicLink()) {
    symlinkSync(readlinkSync(from, { encoding: 'buffer' }), to);
    keepOwner(() => lchownSync(to, found.uid, found.gid));
    lutimesSync(to, ...timesOf(found));
  } else if (found.isFile()) await copyOneFile(from, to, copying);
  else if (found.isDirectory()) await copyFolder(from, to, level, copying);
  else throw failed(copying, 'is or has in it a FIFO, socket or device');
}

async function copyFolder(from: Buffer, to: Buffer, level: number, copying: Copying): Promise<void> {
  if (level === mostLevels) throw failed(copying, `has more than ${mostLevels} folders in each other`);
  const source = unswapped(copying, () => holdFolder(from));
  try {
    mkdirSync(to, { mode: 0o700 });
    const target = unswapped(copying, () => holdFolder(to));
    try {
      for (const name of await readdir(source.path, { encoding: 'buffer' }))
        await copyAny(below(source.path, name), below(target.path, name), level + 1, copying);
      // Last: what is put into a folder changes its times.
      likePath(target.path, source.stat);
    } finally {
      target.close();
    }
  } finally {
    source.close();
  }
}

async function copyOneFile(from: Buffer, to: Buffer, copying: Copying): Promise<void> {
  if (process.platform !== 'linux') {
    const found = lstatSync(from);
    await copyFile(from, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
    return likePath(to, found);
  }
  const { O_RDONLY, O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK } = constants;
  const source = unswapped(copying, () => openSync(from, O_RDONLY | O_NOFOLLOW | O_NONBLOCK));
  try {
    const found = fstatSync(source);
    if (!found.isFile()) throw swapped(copying);
    const target = openSync(to, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
    try {
      if (found.size <= mostAtOnce) pour(source, target, found.size);
      else await copyFile(pathOf(source), pathOf(target), constants.COPYFILE_FICLONE);
      keepOwner(() => fchownSync(target, found.uid, found.gid));
      // After the owner, whose change takes bits away.
      fchmodSync(target, found.mode & 0o7777);
      futimesSync(target, ...timesOf(found));
    } finally {
      closeSync(target);
    }
  } finally {
    closeSync(source);
  }
}

/** A name of what is open, that is there for as long. */
const pathOf = (fd: number): string => `/proc/self/fd/${fd}`;

function pour(source: number, target: number, size: number): void {
  const chunk = Buffer.allocUnsafe(Math.max(size, 4096));
  for (let read = readSync(source, chunk); read > 0; read = readSync(source, chunk))
    for (let done = 0; done < read;) done += writeSync(target, chunk, done, read - done);
}

function likePath(path: Buffer, found: Stats): void {
  keepOwner(() => chownSync(path, found.uid, found.gid));
  chmodSync(path, found.mode & 0o7777);
  utimesSync(path, ...timesOf(found));
}

/** In seconds: a Date has only whole milliseconds, which is enough for make to see a file as older than it is. */
const timesOf = ({ atimeMs, mtimeMs }: Stats): [number, number] => [atimeMs / 1000, mtimeMs / 1000];

function keepOwner(give: () => void): void {
  try {
    give();
  } catch {
    // Only root may give files away; everybody else keeps what they copy.
  }
}

function unswapped<T>(copying: Copying, open: () => T): T {
  try {
    return open();
  } catch (error) {
    throw ['ELOOP', 'ENOTDIR', 'ENXIO'].includes(codeOf(error)) ? swapped(copying) : error;
  }
}

const swapped = (copying: Copying): ToolcribError =>
  failed(copying, 'was changed by another program while it was being copied');

const failed = ({ shown }: Copying, why: string): ToolcribError =>
  new ToolcribError(
    'WRITE_FAILED',
    `${shownPath(shown)}: ${why}; it cannot be moved to another file system, and nothing was changed.`,
    'A shell can move it.',
  );
