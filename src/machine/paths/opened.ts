import { closeSync, constants, fstatSync, openSync, read, readlinkSync, readSync } from 'node:fs';
import type { Stats } from 'node:fs';
import { realpath, stat } from 'node:fs/promises';
import { promisify } from 'node:util';
import { ToolcribError, type ErrorCode } from '../../core/errors.ts';
import { longestPath, type PathKind } from '../../core/params.ts';
import { codeOf } from './real-path.ts';
import { refusal } from './display-path.ts';

const readSome = promisify(read);

/**
 * The size up to which a copy from the system's cache takes less time than handing it to another thread and
 * back.
 */
const smallBytes = 64 * 1024;

/**
 * An open file or folder: the used part of FileHandle in node:fs/promises, without a thread where none is
 * needed.
 */
export class OpenFile {
  readonly fd: number;
  #isOpen = true;

  /** Opens a path. Throws the system's error. */
  constructor(path: string, flags: number) {
    this.fd = openSync(path, flags);
  }

  async stat(): Promise<Stats> {
    return fstatSync(this.fd);
  }

  /**
   * Reads up to `count` bytes from a position; fewer at the end of the file, and where it has been shortened
   * meanwhile.
   */
  async read(position: number, count: number, buffer: Buffer = Buffer.allocUnsafe(count)): Promise<Buffer> {
    let filled = 0;
    // One read may return fewer bytes than there are.
    while (filled < count) {
      const rest = [this.fd, buffer, filled, count - filled, position + filled] as const;
      const bytesRead = count - filled > smallBytes ? (await readSome(...rest)).bytesRead : readSync(...rest);
      if (bytesRead === 0) break;
      filled += bytesRead;
    }
    return buffer.subarray(0, filled);
  }

  /** Closes it, once; further calls do nothing. */
  async close(): Promise<void> {
    if (this.#isOpen) closeSync(this.fd);
    this.#isOpen = false;
  }
}

/** A file or folder that was opened for reading. */
export interface OpenedFile {
  readonly handle: OpenFile;
  /** The real path of what was opened, determined after opening. */
  readonly path: string;
  readonly stat: Stats;
  /**
   * A path that leads to what was opened even when it has been renamed or replaced since, also in programs
   * that we start. Where the system has no such path it is the real path.
   */
  readonly stablePath: string;
}

/**
 * Opens a real path so that a FIFO, a terminal or a late symbolic link can neither block nor mislead. `check`
 * examines what was opened, not what lay there a moment ago; when it throws, nothing stays open. Throws the
 * error that `unreadable` makes of a failure.
 */
export async function openAt(
  real: string,
  given: string,
  check?: (opened: OpenedFile) => void,
): Promise<OpenedFile> {
  // Windows has none of these flags.
  const { O_NONBLOCK = 0, O_NOCTTY = 0, O_NOFOLLOW = 0 }: Partial<typeof constants> = constants;
  let handle: OpenFile;
  try {
    handle = new OpenFile(real, O_NONBLOCK | O_NOCTTY | O_NOFOLLOW);
  } catch (error) {
    throw unreadable(given, codeOf(error));
  }
  try {
    const facts = fstatSync(handle.fd);
    const opened = { handle, stat: facts, ...(linkOf(handle) ?? (await checkAgain(facts, real, given))) };
    check?.(opened);
    return opened;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/**
 * The real path of an open file. Linux reports it for the descriptor itself, so that nothing can be swapped
 * in between.
 */
function linkOf({ fd }: OpenFile): Pick<OpenedFile, 'path' | 'stablePath'> | undefined {
  if (process.platform !== 'linux') return undefined;
  const stablePath = `/proc/${process.pid}/fd/${fd}`;
  try {
    return { path: readlinkSync(stablePath), stablePath };
  } catch {
    // There is no /proc here.
    return undefined;
  }
}

async function checkAgain(facts: Stats, real: string, given: string) {
  const [path, now] = await Promise.all([realpath(real), stat(real)]);
  if (now.ino === facts.ino && now.dev === facts.dev) return { path, stablePath: path };
  throw refusal('PATH_NOT_FOUND', given, 'was replaced while it was being opened.', 'Try again.');
}

/** Throws PATH_NOT_REGULAR for anything but the expected kind. */
export function refuseWrongKind(stats: Stats, given: string, kind: PathKind): void {
  const isFile = stats.isFile();
  const isFolder = stats.isDirectory();
  if ((isFile && kind !== 'folder') || (isFolder && kind !== 'file')) return;
  const expected = { file: 'a regular file', folder: 'a folder', any: 'a regular file or a folder' }[kind];
  const refused = (is: string, wayOut?: string) =>
    refusal('PATH_NOT_REGULAR', given, `is ${is}, not ${expected}.`, wayOut);
  if (isFile) throw refused('a file', 'Give the folder that it is in.');
  if (isFolder) throw refused('a folder', 'list_files shows what is in it.');
  throw refused(stats.isFIFO() ? 'a FIFO (named pipe)' : stats.isSocket() ? 'a socket' : 'a device');
}

const noFile = ['PATH_NOT_REGULAR', 'is a socket or a device, not a regular file.'] as const;
const denied = ['PATH_DENIED', 'the system does not let this user do that.'] as const;

type Failure = readonly [code: ErrorCode, message: string, wayOut?: string];

const failures: Readonly<Record<string, Failure>> = {
  ENOENT: ['PATH_NOT_FOUND', 'does not exist.', 'list_files finds files by part of their name.'],
  ENOTDIR: ['PATH_NOT_FOUND', 'does not exist; something before its end is not a folder.'],
  ELOOP: ['PATH_NOT_FOUND', 'symbolic links lead in a circle, or one has come in its place.'],
  ENAMETOOLONG: ['ARG_INVALID', 'is too long for a path.'],
  // The codes for opening a socket, or a device without a driver.
  ENXIO: noFile,
  ENODEV: noFile,
  EACCES: denied,
  EPERM: denied,
  EROFS: ['PATH_DENIED', 'lies on a file system that cannot be written to.'],
  EEXIST: ['PATH_EXISTS', 'exists already.', 'Choose another path, or move it away.'],
  ENOSPC: ['WRITE_FAILED', 'the disk is full; nothing was changed.', 'Free some space, then try again.'],
  EBUSY: ['WRITE_FAILED', 'is in use by another program; nothing was changed.', 'Try again.'],
};

/** Makes an error of a failed system call; `other` is for a failure that is not listed above. */
export function unreadable(
  given: string,
  failure: string,
  other: Failure = ['PATH_NOT_FOUND', `cannot be read (${failure}).`],
): ToolcribError {
  const [code, says, wayOut] = failures[failure] ?? other;
  return refusal(code, given.length > longestPath ? `${given.slice(0, 200)}…` : given, says, wayOut);
}
