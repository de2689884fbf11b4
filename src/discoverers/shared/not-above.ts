import { ToolcribError } from '../../core/grammar.ts';

/** The error that a program does not find what it needs from its folder upwards, as far as it may look. */
export const notAbove = (folder: string, what: string): ToolcribError =>
  new ToolcribError(
    'PATH_NOT_FOUND',
    `${folder}: there is no ${what} here or above, up to the root.`,
    'Give a folder below one as cwd. If it begins above the root, the server has to be started ' +
      'with --root at its top.',
  );
