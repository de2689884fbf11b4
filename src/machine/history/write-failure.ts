import { ToolcribError } from '../../core/errors.ts';
import { codeOf } from '../paths/real-path.ts';
import { shownPath } from '../paths/shown-path.ts';

/**
 * What a system call that should have changed `path` failed with, for a caller: PATH_DENIED, PATH_EXISTS,
 * PATH_NOT_FOUND or WRITE_FAILED. What is a ToolcribError stays one; what is no failed system call is thrown.
 */
export function unwritable(path: string, error: unknown): ToolcribError {
  if (error instanceof ToolcribError) return error;
  const code = codeOf(error);
  const shown = shownPath(path);
  const failed = (why: string, wayOut = '') =>
    new ToolcribError('WRITE_FAILED', `${shown}: ${why}; nothing was changed.`, wayOut);
  switch (code) {
    case 'EACCES':
    case 'EPERM':
      return new ToolcribError('PATH_DENIED', `${shown}: the system does not let this user change it.`);
    case 'EROFS':
      return new ToolcribError('PATH_DENIED', `${shown}: lies on a file system that cannot be written to.`);
    case 'EEXIST':
    case 'ENOTEMPTY':
      return new ToolcribError(
        'PATH_EXISTS',
        `${shown}: exists already.`,
        'Choose another path, or move it away.',
      );
    case 'ENOENT':
    case 'ENOTDIR':
      return new ToolcribError('PATH_NOT_FOUND', `${shown}: it, or the folder it is in, no longer exists.`);
    case 'ENOSPC':
      return failed('the disk is full', 'Free some space, then try again.');
    case 'EDQUOT':
      return failed('the disk quota of this user is used up', 'Free some space, then try again.');
    case 'ENAMETOOLONG':
      return new ToolcribError('ARG_INVALID', `${shown.slice(0, 200)}…: is too long for a path.`);
    case 'EBUSY':
    case 'ETXTBSY':
      return failed('is in use by another program, or something is mounted there');
    case 'EMFILE':
    case 'ENFILE':
      return failed('too many files are open', 'Try again.');
    default:
      return failed(`could not be written (${code})`);
  }
}

/** The same for the folder where changes are kept: without it there would be no undo, so nothing is changed. */
export function noHistory(folder: string, why: string): ToolcribError {
  return new ToolcribError(
    'WRITE_FAILED',
    `Nothing was changed, because the change could not be kept for undoing: ${shownPath(folder)} ${why}.`,
    'XDG_STATE_HOME (on Windows LOCALAPPDATA) says where that folder is.',
  );
}
