import { ToolcribError, type ErrorCode } from '../../core/errors.ts';
import { codeOf } from '../paths/real-path.ts';
import { shownPath } from '../paths/shown-path.ts';

/** What the system's codes mean to a caller, as the rest of a sentence about the path, and the way out. */
const failures: readonly (readonly [codes: string, code: ErrorCode, why: string, wayOut?: string])[] = [
  ['EACCES EPERM', 'PATH_DENIED', 'the system does not let this user change it.'],
  ['EROFS', 'PATH_DENIED', 'lies on a file system that cannot be written to.'],
  ['EEXIST ENOTEMPTY', 'PATH_EXISTS', 'exists already.', 'Choose another path, or move it away.'],
  ['ENOENT ENOTDIR', 'PATH_NOT_FOUND', 'it, or the folder it is in, no longer exists.'],
  ['ELOOP', 'PATH_NOT_REGULAR', 'is a symbolic link, not a regular file.'],
  ['ENXIO ENODEV', 'PATH_NOT_REGULAR', 'is a socket or a device, not a regular file.'],
  [
    'ENOSPC EDQUOT',
    'WRITE_FAILED',
    'the disk is full; nothing was changed.',
    'Free some space, then try again.',
  ],
  ['ENAMETOOLONG', 'ARG_INVALID', 'is too long for a path.'],
  ['EBUSY ETXTBSY', 'WRITE_FAILED', 'is in use by another program; nothing was changed.', 'Try again.'],
  ['EMFILE ENFILE', 'WRITE_FAILED', 'too many files are open; nothing was changed.', 'Try again.'],
];

/**
 * What a system call that should have changed `path` failed with, for a caller: PATH_DENIED, PATH_EXISTS,
 * PATH_NOT_FOUND, PATH_NOT_REGULAR or WRITE_FAILED. What is a ToolcribError stays one; what is no failed system call is
 * thrown.
 */
export function unwritable(path: string, error: unknown): ToolcribError {
  if (error instanceof ToolcribError) return error;
  const system = codeOf(error);
  const [, code, why, wayOut] = failures.find(([codes]) => codes.split(' ').includes(system)) ?? [
    system,
    'WRITE_FAILED',
    `could not be written (${system}).`,
  ];
  return new ToolcribError(code, `${shownPath(path).slice(0, 1000)}: ${why}`, wayOut);
}

/** The same for the folder where changes are kept: without it there would be no undo, so nothing is changed. */
export function noHistory(folder: string, why: string): ToolcribError {
  return new ToolcribError(
    'WRITE_FAILED',
    `Nothing was changed, because the change could not be kept for undoing: ${shownPath(folder)} ${why}.`,
    'XDG_STATE_HOME (on Windows LOCALAPPDATA) says where that folder is.',
  );
}
