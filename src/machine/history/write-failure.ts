import { ToolcribError, type ErrorCode } from '../../core/errors.ts';
import { unreadable } from '../paths/opened.ts';
import { codeOf } from '../paths/real-path.ts';
import { refusal, shownPath } from '../paths/shown-path.ts';

/** What those of the system's codes mean to a caller that only changing meets, and the way out. */
const failures: readonly (readonly [codes: string, code: ErrorCode, why: string, wayOut?: string])[] = [
  ['EROFS', 'PATH_DENIED', 'lies on a file system that cannot be written to.'],
  ['EEXIST ENOTEMPTY', 'PATH_EXISTS', 'exists already.', 'Choose another path, or move it away.'],
  ['ELOOP', 'PATH_NOT_REGULAR', 'is a symbolic link, not a regular file.'],
  ['ENOSPC EDQUOT', 'WRITE_FAILED', 'the disk is full; nothing was changed.', 'Free some space first.'],
  ['EBUSY ETXTBSY', 'WRITE_FAILED', 'is in use by another program; nothing was changed.', 'Try again.'],
  ['EMFILE ENFILE', 'WRITE_FAILED', 'too many files are open; nothing was changed.', 'Try again.'],
];
const read = ['EACCES', 'EPERM', 'ENOENT', 'ENOTDIR', 'ENXIO', 'ENODEV', 'ENAMETOOLONG'];

/**
 * What a system call that should have changed `path` failed with, for a caller: PATH_DENIED, PATH_EXISTS,
 * PATH_NOT_FOUND, PATH_NOT_REGULAR or WRITE_FAILED. What is a ToolcribError stays one; what is no failed system call is
 * thrown.
 */
export function unwritable(path: string, error: unknown): ToolcribError {
  if (error instanceof ToolcribError) return error;
  const system = codeOf(error);
  const known = failures.find(([codes]) => codes.split(' ').includes(system));
  if (known) return refusal(known[1], path, known[2], known[3]);
  if (read.includes(system)) return unreadable(path, system);
  return refusal('WRITE_FAILED', path, `could not be written (${system}).`);
}

/** The same for the folder where changes are kept: without it there would be no undo, so nothing is changed. */
export const noHistory = (folder: string, why: string): ToolcribError =>
  new ToolcribError(
    'WRITE_FAILED',
    `Nothing was changed, because the change could not be kept for undoing: ${shownPath(folder)} ${why}.`,
    'XDG_STATE_HOME (on Windows LOCALAPPDATA) says where that folder is.',
  );

/** For a change that is unknown or forgotten. */
export const gone = (id = 'The change', why = ''): ToolcribError =>
  new ToolcribError(
    'NOT_FOUND',
    `${id}: there is no such change, or it is no longer kept${why && ` (${why})`}.`,
    'undo without arguments lists those that can be taken back.',
  );

/** For what another program has changed since a change was made. */
export const changedSince = (path: string): ToolcribError =>
  refusal(
    'STALE_FILE',
    path,
    'it has been changed since.',
    'Undo what came after it as well (since), or change the file with edit_file.',
  );
