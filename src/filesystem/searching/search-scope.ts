import { dirname, join } from 'node:path';
import type { PlanContext } from '../../core/tool.ts';
import type { Opened } from '../../machine/paths/opened.ts';
import { rooted } from '../../machine/paths/workspace.ts';
import { openPatternFolder, parseGlob } from '../listing/glob-pattern.ts';
import { namedEncoding } from '../text/encoding.ts';
import type { ChosenFiles } from './grep-params.ts';
import { isDotFile, scopeOf } from './ripgrep.ts';

/** Where one call searches, and how ripgrep is told so. */
export interface Scope {
  readonly where: Opened;
  /** The folder that paths begin at. */
  readonly folder: string;
  readonly argv: readonly string[];
  /** Whether a file that ripgrep finds is wanted, by its path below the folder. */
  isChosen(path: string): boolean;
}

/** Megabytes of a file that is searched across lines: it is read whole. */
const multilineMegabytes = 100;

/** The file or folder to search: the one with which the glob begins. Throws what opening throws. */
export async function openScope(given: ChosenFiles, context: Pick<PlanContext, 'workspace'>): Promise<Scope> {
  const workspace = rooted(context.workspace);
  const isExcluding = given.glob?.startsWith('!') === true;
  const glob = given.glob === undefined ? undefined : parseGlob(given.glob.replace(/^!/, ''));
  const pattern = isExcluding ? undefined : glob;
  let where = await workspace.open('any', given.path);
  const isFile = where.stat.isFile();
  if (pattern?.folder && !isFile) {
    await where.handle.close();
    where = await openPatternFolder(workspace, given.path, pattern);
  }
  const hasDots = given.hidden || pattern?.hidden === true;
  return {
    where,
    folder: isFile ? dirname(where.path) : where.path,
    argv: [
      '--with-filename',
      '--null',
      // Otherwise `;$` would match nothing in a file with Windows line ends.
      '--crlf',
      ...(given.ignore_case ? ['--ignore-case'] : []),
      ...(given.literal ? ['--fixed-strings'] : []),
      // Such files are read whole, even when they are binary; a single one can be mapped instead.
      ...(given.multiline ? ['--multiline', `--max-filesize=${multilineMegabytes}M`] : []),
      ...(given.encoding === undefined ? [] : [`--encoding=${namedEncoding(given.encoding).label}`]),
      ...scopeOf({ ...given, pattern }),
      ...(isExcluding ? [`--glob=${given.glob}`] : []),
      `--regexp=${given.pattern}`,
      '--',
    ],
    isChosen: (path) =>
      isFile ||
      ((hasDots || !isDotFile(path)) &&
        (pattern?.matches(path) ?? true) &&
        !workspace.denies(join(where.path, path))),
  };
}
