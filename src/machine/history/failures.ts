import { ToolcribError } from '../../core/errors.ts';
import { unreadable } from '../paths/opened.ts';
import { codeOf } from '../paths/real-path.ts';
import { refusal, displayPath } from '../paths/display-path.ts';

/** A larger file is no text that somebody wrote, and all of it has to be in memory. */
export const mostChangedBytes = 64 * 1024 * 1024;

/**
 * The failure of a system call that should have changed `path`, for a caller: PATH_DENIED, PATH_EXISTS,
 * PATH_NOT_FOUND, PATH_NOT_REGULAR or WRITE_FAILED. A ToolcribError stays one; an error that is no failed
 * system call is thrown.
 */
export function unwritable(path: string, error: unknown): ToolcribError {
  if (error instanceof ToolcribError) return error;
  const code = codeOf(error);
  return unreadable(path, code, ['WRITE_FAILED', `could not be written (${code}); nothing was changed.`]);
}

/**
 * The same for the folder where changes are kept: without it there would be no undo, so nothing is changed.
 */
export const noHistory = (folder: string, why: string): ToolcribError =>
  new ToolcribError(
    'WRITE_FAILED',
    `Nothing was changed, because the change could not be kept for undoing: ${displayPath(folder)} ${why}.`,
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

/** For what another program has changed while it was being changed here. */
export const changedMeanwhile = (path: string): ToolcribError =>
  refusal(
    'STALE_FILE',
    path,
    'another program changed it while it was being changed here; that was left as it is.',
    'Read it again, and base the change on what is there now.',
  );

/** For what has more bytes than can be kept. */
export function tooLarge(path: string, bytes: number, most: number): ToolcribError {
  const [has, kept] = [bytes, most].map((each) => `${Math.ceil(each / 1024 / 1024).toLocaleString('en')} MB`);
  const why = `has ${has}; changes that can be undone are kept up to ${kept}. Nothing was changed.`;
  return refusal('TOO_LARGE', path, why, 'Change it with a program of your own.');
}
