import { join } from 'node:path';
import type { Opened } from '../../machine/paths/opened.ts';
import type { RootedWorkspace } from '../../machine/paths/workspace.ts';
import { openPatternFolder, type GlobPattern } from '../listing/glob-pattern.ts';
import { namedEncoding } from '../text/encoding.ts';
import type { ChosenFiles } from './grep-params.ts';

interface Scope {
  readonly hidden: boolean;
  readonly ignored: boolean;
  readonly pattern?: GlobPattern | undefined;
  /** A file type that ripgrep knows. */
  readonly type?: string | undefined;
}

/** The arguments by which ripgrep chooses files. */
export function scopeOf({ hidden, ignored, pattern, type }: Scope): string[] {
  // Types add up, so names can only be chosen by one of the two; the pattern is then applied to what was found.
  const names = type === undefined ? (pattern?.names ?? []) : [];
  return [
    // The folder of git's own files is nobody's hidden file.
    ...(hidden || pattern?.hidden ? ['--hidden', '--glob=!.git'] : []),
    ...(ignored ? ['--no-ignore'] : []),
    ...(type === undefined ? [] : [`--type=${type}`]),
    ...names.map((name) => `--type-add=wanted:${name}`),
    ...(names.length > 0 ? ['--type=wanted'] : []),
    ...(pattern?.depth === undefined ? [] : [`--max-depth=${pattern.depth}`]),
  ];
}

/** A path that ripgrep printed, as it lies below the searched folder, with `/` between names. */
export function printedPath(printed: string): string {
  const path = process.platform === 'win32' ? printed.replaceAll('\\', '/') : printed;
  return path.startsWith('./') ? path.slice(2) : path;
}

/** Whether a file has a name with a dot, which a type by which ripgrep chooses brings back. */
export const isDotFile = (path: string): boolean => path.charAt(path.lastIndexOf('/') + 1) === '.';

const isExcluding = ({ glob }: Pick<ChosenFiles, 'glob'>): boolean => glob?.startsWith('!') === true;

/** The file or folder to search: the one with which the glob begins. Throws what opening throws. */
export async function openScope(
  given: ChosenFiles,
  pattern: GlobPattern | undefined,
  workspace: RootedWorkspace,
): Promise<Opened> {
  const base = await workspace.open('any', given.path);
  if (!pattern?.folder || isExcluding(given) || base.stat.isFile()) return base;
  await base.handle.close();
  return openPatternFolder(workspace, given.path, pattern);
}

/** Which of the files that ripgrep finds are wanted, by their paths below the searched folder. */
export function choiceOf(
  given: ChosenFiles,
  pattern: GlobPattern | undefined,
  where: Opened,
  workspace: RootedWorkspace,
): (path: string) => boolean {
  if (where.stat.isFile()) return () => true;
  return (path) =>
    (given.hidden || pattern?.hidden === true || !isDotFile(path)) &&
    (!pattern || isExcluding(given) || pattern.matches(path)) &&
    !workspace.denies(join(where.path, path));
}

/** Megabytes of a file that is searched across lines: it is read whole. */
const multilineMegabytes = 100;

/** The arguments that say what is looked for, and where. */
export const searchArguments = (given: ChosenFiles, pattern: GlobPattern | undefined): string[] => [
  '--with-filename',
  '--null',
  // Otherwise `;$` would match nothing in a file with Windows line ends.
  '--crlf',
  ...(given.ignore_case ? ['--ignore-case'] : []),
  ...(given.literal ? ['--fixed-strings'] : []),
  // Such files are read whole, even when they are binary; a single one can be mapped instead.
  ...(given.multiline ? ['--multiline', `--max-filesize=${multilineMegabytes}M`] : []),
  ...(given.encoding === undefined ? [] : [`--encoding=${namedEncoding(given.encoding).label}`]),
  ...scopeOf({ ...given, pattern: isExcluding(given) ? undefined : pattern }),
  ...(isExcluding(given) ? [`--glob=${given.glob}`] : []),
  `--regexp=${given.pattern}`,
  '--',
];
