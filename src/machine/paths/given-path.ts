import { isAbsolute, normalize, relative, sep } from 'node:path';
import { ToolcribError } from '../../core/errors.ts';
import { longestPath } from '../../core/params.ts';
import { isInside } from './inside.ts';
import { unreadable } from './opened.ts';
import { refusal } from './display-path.ts';

/**
 * Makes the path that a caller gave absolute, before anything on the disk is looked at. Throws ARG_INVALID
 * and PATH_PROTECTED.
 */
export function absolutePath(given: string, from: string, home: string): string {
  if (given === '')
    throw new ToolcribError('ARG_INVALID', 'The path is empty.', 'Use "." for the folder itself.');
  if (given.length > longestPath) throw unreadable(given, 'ENAMETOOLONG');
  const trick = process.platform === 'win32' ? windowsPathTrick(given) : undefined;
  const problem = given.includes('\0') ? 'has a NUL character' : trick;
  if (problem) throw refusal('ARG_INVALID', given, `${problem}.`, 'Use a plain path.');
  const expanded = given.startsWith('~/') ? home + given.slice(1) : given;
  // Not join(), which would remove `link/..` before the link was followed.
  const absolute = isAbsolute(expanded) ? expanded : from + sep + expanded;
  if (inPseudoFolder(normalize(absolute))) throw protectedPath(given);
  return absolute;
}

/** The first root. Throws NO_ROOTS. */
export function firstRoot(roots: readonly string[]): string {
  const [root] = roots;
  if (root !== undefined) return root;
  throw new ToolcribError(
    'NO_ROOTS',
    'No folder has been opened to the model.',
    'Add "--root", "/path/to/project" to the args of this server in the configuration of the host.',
  );
}

const slashes = sep === '/' ? /(?<=[^/])(?:\/\.?)+$/ : /(?<=[^\\/])(?:[\\/]\.?)+$/;

/** Removes `/` and `/.` from the end of a path. */
export const withoutSlashes = (path: string): string => path.replace(slashes, '');

/**
 * Folders in which kernels show processes, devices and settings as files. What is read there can be secret or
 * never end.
 */
const pseudoFolders = sep === '/' ? ['/proc', '/sys', '/dev'] : [];

/** True where a path lies in a file system of processes, devices or kernel settings. */
export const inPseudoFolder = (path: string): boolean =>
  pseudoFolders.some((folder) => path === folder || path.startsWith(`${folder}/`));

/** The file systems of that kind below a folder, relative to it. */
export const pseudoFoldersBelow = (folder: string): string[] =>
  pseudoFolders
    .filter((each) => isInside(each, folder) && each !== folder)
    .map((each) => relative(folder, each));

/** The error for a path that no root opens. */
export const protectedPath = (given: string): ToolcribError =>
  refusal(
    'PATH_PROTECTED',
    given,
    `lies in a file system of processes, devices or kernel settings, which is never opened.`,
  );

// https://learn.microsoft.com/windows/win32/fileio/naming-a-file; the superscript digits count as digits
// there.
const deviceName = /^(?:CON|PRN|AUX|NUL|CLOCK\$|CONIN\$|CONOUT\$|(?:COM|LPT)[0-9¹²³])$/i;

/**
 * The part of a path that Windows would not read as names of folders and files, as the end of a sentence;
 * undefined when there is none. Short 8.3 names and junctions do not count, because the real path resolves
 * them.
 */
export function windowsPathTrick(path: string): string | undefined {
  const slashed = path.replaceAll('/', '\\');
  if (/^\\(?:\\[?.]|\?\?)\\/.test(slashed)) return 'begins with a device prefix';
  if (slashed.startsWith('\\\\'))
    return 'names a share of another machine, which would be sent your credentials';
  if (/^[a-z]:(?!\\)/i.test(slashed)) return "is relative to a drive's own working folder";
  const names = slashed.replace(/^[a-z]:/i, '');
  if (names.includes(':')) return 'names a stream inside a file';
  // oxlint-disable-next-line no-control-regex
  if (/[<>"|?*\u0001-\u001f]/.test(names)) return 'has a character that Windows does not allow in names';
  return names.split('\\').map(nameTrick).find(Boolean);
}

function nameTrick(name: string): string | undefined {
  if (name === '' || name === '.' || name === '..') return undefined;
  const [stem = ''] = name.split('.');
  if (deviceName.test(stem.trimEnd())) return `names a device (${stem.trimEnd()})`;
  if (/[. ]$/.test(name)) return 'has a name that ends with a dot or a blank, which Windows drops';
  return undefined;
}
