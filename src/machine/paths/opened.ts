import { constants, readlinkSync, type Stats } from 'node:fs';
import { realpath, stat } from 'node:fs/promises';
import { ToolcribError } from '../../core/errors.ts';
import type { PathKind } from '../../core/params.ts';
import { OpenFile } from './open-file.ts';
import { codeOf } from './real-path.ts';
import { shownPath } from './shown-path.ts';

/** A file or folder that has been opened for reading. */
export interface Opened {
  readonly handle: OpenFile;
  /** The real path of what was opened, asked after opening. */
  readonly path: string;
  readonly stat: Stats;
  /**
   * Leads to what was opened even when it has been renamed or replaced since, also in programs we start. Where the
   * system has no such path it is the real path.
   */
  readonly stablePath: string;
}

/**
 * Opens a real path so that a FIFO, a terminal or a late symbolic link can neither block nor mislead. The caller must
 * check the path and kind of what was opened; `kind` only spares it from opening anything but folders where the system
 * can tell. Throws what `unreadable` makes of a failure.
 */
export async function openAt(real: string, given: string, kind: 'folder' | 'any' = 'any'): Promise<Opened> {
  const handle = openHere(real, kind, given);
  return closeOnError(handle, async () => ({
    handle,
    stat: handle.opened,
    ...(linkOf(handle) ?? (await lookAgain(handle, real, given))),
  }));
}

function openHere(real: string, kind: 'folder' | 'any', given: string): OpenFile {
  try {
    return new OpenFile(real, readingFlags(kind));
  } catch (error) {
    throw unreadable(given, codeOf(error));
  }
}

/** Closes a handle that will not be handed on, because `then` failed. */
export async function closeOnError<T>(handle: OpenFile, then: () => Promise<T>): Promise<T> {
  try {
    return await then();
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** Throws PATH_NOT_REGULAR for anything but what was asked for. */
export function refuseWrongKind(found: Stats, given: string, kind: PathKind): void {
  const wanted =
    kind === 'file'
      ? found.isFile()
      : kind === 'folder'
        ? found.isDirectory()
        : found.isFile() || found.isDirectory();
  if (wanted) return;
  const expected = { file: 'a regular file', folder: 'a folder', any: 'a regular file or a folder' }[kind];
  const wayOut =
    kind === 'file' && found.isDirectory()
      ? 'list_directory shows what is in it.'
      : kind === 'folder' && found.isFile()
        ? 'Give the folder that it is in.'
        : '';
  throw new ToolcribError(
    'PATH_NOT_REGULAR',
    `${shownPath(given)}: is ${kindOf(found)}, not ${expected}.`,
    wayOut,
  );
}

/** What a failed system call means to a caller. */
export function unreadable(given: string, code: string): ToolcribError {
  const path = shownPath(given);
  if (code === 'ENOENT')
    return new ToolcribError(
      'PATH_NOT_FOUND',
      `${path}: does not exist.`,
      'glob finds files by part of their name.',
    );
  if (code === 'ENOTDIR')
    return new ToolcribError(
      'PATH_NOT_FOUND',
      `${path}: does not exist; something before its end is not a folder.`,
    );
  if (code === 'ELOOP')
    return new ToolcribError('PATH_NOT_FOUND', `${path}: symbolic links lead in a circle.`);
  if (code === 'ENAMETOOLONG')
    return new ToolcribError('ARG_INVALID', `${path.slice(0, 200)}…: is too long for a path.`);
  // Opening a socket, or a device without a driver.
  if (code === 'ENXIO' || code === 'ENODEV')
    return new ToolcribError('PATH_NOT_REGULAR', `${path}: is a socket or a device, not a regular file.`);
  if (code === 'EACCES' || code === 'EPERM')
    return new ToolcribError('PATH_DENIED', `${path}: the system does not let this user read it.`);
  return new ToolcribError('PATH_NOT_FOUND', `${path}: cannot be read (${code}).`);
}

/** What something is, with its article. */
function kindOf(
  found: Pick<Stats, 'isFile' | 'isDirectory' | 'isFIFO' | 'isSocket' | 'isSymbolicLink'>,
): string {
  if (found.isFile()) return 'a file';
  if (found.isDirectory()) return 'a folder';
  if (found.isFIFO()) return 'a FIFO (named pipe)';
  if (found.isSocket()) return 'a socket';
  return found.isSymbolicLink() ? 'a symbolic link' : 'a device';
}

/** Windows has none but the first, hence the zeros. */
function readingFlags(kind: 'folder' | 'any'): number {
  const {
    O_RDONLY,
    O_NONBLOCK = 0,
    O_NOCTTY = 0,
    O_NOFOLLOW = 0,
    O_DIRECTORY = 0,
  }: Partial<typeof constants> & { O_RDONLY: number } = constants;
  return O_RDONLY | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW | (kind === 'folder' ? O_DIRECTORY : 0);
}

/** The real path of what is open. Linux tells it for the descriptor itself, so nothing can be swapped in between. */
function linkOf({ fd }: OpenFile): Pick<Opened, 'path' | 'stablePath'> | undefined {
  if (process.platform !== 'linux') return undefined;
  const stablePath = `/proc/${process.pid}/fd/${fd}`;
  try {
    // The kernel answers this from its own memory.
    return { path: readlinkSync(stablePath), stablePath };
  } catch {
    // No /proc here.
    return undefined;
  }
}

async function lookAgain({ opened }: OpenFile, real: string, given: string) {
  const [path, now] = await Promise.all([realpath(real), stat(real)]);
  if (now.ino !== opened.ino || now.dev !== opened.dev)
    throw new ToolcribError(
      'PATH_NOT_FOUND',
      `${shownPath(given)}: was replaced while it was being opened.`,
      'Try again.',
    );
  return { path, stablePath: path };
}
