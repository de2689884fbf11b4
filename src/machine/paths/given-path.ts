import { isAbsolute, normalize, sep } from 'node:path';
import { ToolcribError } from '../../core/errors.ts';
import { longestPath } from '../../core/params.ts';
import { unreadable } from './opened.ts';
import { inPseudoFolder } from './pseudo-filesystem.ts';
import { shownPath } from './shown-path.ts';
import { windowsPathTrick } from './windows-path.ts';

/** A path as a caller gave it, made absolute; nothing on it has been looked at. Throws ARG_INVALID, NO_ROOTS and PATH_PROTECTED. */
export function absolutePath(
  given: string,
  from: string | undefined,
  roots: readonly string[],
  home: string,
): string {
  const start = from ?? firstRoot(roots);
  if (given === '')
    throw new ToolcribError('ARG_INVALID', 'The path is empty.', 'Use "." for the folder itself.');
  if (given.length > longestPath) throw unreadable(given, 'ENAMETOOLONG');
  if (given.includes('\0'))
    throw new ToolcribError('ARG_INVALID', `${shownPath(given)}: has a NUL character.`);
  const trick = process.platform === 'win32' ? windowsPathTrick(given) : undefined;
  if (trick) throw new ToolcribError('ARG_INVALID', `${shownPath(given)}: ${trick}.`, 'Use a plain path.');
  const expanded = given.startsWith('~/') ? home + given.slice(1) : given;
  // Not join(): it would take `link/..` away before the link was followed.
  const absolute = isAbsolute(expanded) ? expanded : start + sep + expanded;
  if (inPseudoFolder(normalize(absolute))) throw protectedPath(given);
  return absolute;
}

/** Throws NO_ROOTS. */
export function firstRoot(roots: readonly string[]): string {
  const [root] = roots;
  if (root !== undefined) return root;
  throw new ToolcribError(
    'NO_ROOTS',
    'No folder has been opened to the model.',
    'Add "--root", "/path/to/project" to the args of this server in the configuration of the host.',
  );
}

/** A path without `/` and `/.` at its end. No regular expression: those that find this need too long for many slashes. */
export function withoutSlashes(path: string): string {
  let end = path.length;
  for (;;) {
    if (isSlash(path[end - 1])) end--;
    else if (path[end - 1] === '.' && isSlash(path[end - 2])) end -= 2;
    else return path.slice(0, end);
  }
}

const isSlash = (character: string | undefined): boolean => character === '/' || character === sep;

/** `x/`, `x/.` and `x/..` name what they lead to. */
export const endsInFolder = sep === '/' ? /(?:^|\/)\.{0,2}$/ : /(?:^|[\\/])\.{0,2}$/;

/** The refusal of what no root opens. */
export const protectedPath = (given: string): ToolcribError =>
  new ToolcribError(
    'PATH_PROTECTED',
    `${shownPath(given)}: lies in a file system of processes, devices or kernel settings, which is never opened.`,
  );
