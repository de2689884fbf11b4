import { ToolcribError } from '../../core/errors.ts';
import { unreadable } from '../paths/opened.ts';
import { codeOf } from '../paths/real-path.ts';
import { refusal, shownPath } from '../paths/shown-path.ts';

/**
 * What a system call that should have changed `path` failed with, for a caller: PATH_DENIED, PATH_EXISTS,
 * PATH_NOT_FOUND, PATH_NOT_REGULAR or WRITE_FAILED. What is a ToolcribError stays one; what is no failed system call is
 * thrown.
 */
export function unwritable(path: string, error: unknown): ToolcribError {
  if (error instanceof ToolcribError) return error;
  const code = codeOf(error);
  return unreadable(path, code, ['WRITE_FAILED', `could not be written (${code}); nothing was changed.`]);
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
