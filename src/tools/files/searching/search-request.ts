import { dirname, join } from 'node:path';
import * as z from 'zod';
import { also, unlisted } from '../../../core/accepted.ts';
import { flag, path } from '../../../core/params.ts';
import type { PlanContext } from '../../../core/tool.ts';
import type { OpenedFile } from '../../../machine/paths/opened.ts';
import { rooted } from '../../../machine/paths/workspace.ts';
import { openPatternFolder, parseGlob } from '../listing/glob-pattern.ts';
import { resolveEncoding } from '../text/encoding.ts';
import { selectFiles } from './ripgrep.ts';

/** The parameter for a regular expression of ripgrep, or for a plain text. */
export const patternParam = (description: string) =>
  also(
    z
      .string()
      .min(1)
      .max(10_000)
      .regex(/^[^\0]*$/, 'has a NUL character')
      .describe(description),
    'regex query search search_pattern search_term regexp',
  );

/** The parameter that makes the pattern a plain text. */
export const literalParam = also(flag('pattern is plain text'), 'fixed fixed_strings -F is_literal');

/** The parameter that limits a search to the files of a glob. */
export const globParam = also(
  z.string().min(1).optional().describe('Only such files: src/**/*.{ts,tsx}; !*.min.js leaves out'),
  'include include_pattern includes file_pattern glob_pattern -g',
);

/** The parameter for the file or folder to search; the first root without it. */
export const scopeParam = also(
  path('File or folder: src').default('.'),
  'dir_path dir directory folder file_path target_directory cwd',
);

/**
 * Parameters that every search accepts to select files, but that are not listed: path and glob are enough.
 */
export const selectionParams = {
  type: unlisted(
    z
      .string()
      .regex(/^\w[\w+-]*$/)
      .optional(),
    'file_type',
  ),
  ignored: unlisted(flag('Also what .gitignore leaves out'), 'no_ignore include_ignored'),
  hidden: unlisted(flag('Also dot names'), 'include_hidden'),
  encoding: unlisted(z.string().min(1).max(50).optional()),
  multiline: unlisted(flag('Across lines'), '-U'),
  // The opposite of literal.
  is_regexp: unlisted(z.boolean().optional()),
};

/** The parameters that grep and replace_in_files share: the pattern, and the files to search. */
export interface SearchParams {
  readonly pattern: string;
  readonly path: string;
  readonly glob?: string | undefined;
  readonly literal: boolean;
  readonly ignore_case: boolean;
  readonly type?: string | undefined;
  readonly ignored: boolean;
  readonly hidden: boolean;
  readonly encoding?: string | undefined;
  readonly multiline: boolean;
  readonly is_regexp?: boolean | undefined;
}

/** A search, with how much of what it finds is shown. */
export interface SearchRequest extends SearchParams {
  readonly output: 'lines' | 'files' | 'count';
  /** Lines before and after each match. */
  readonly before: number;
  readonly after: number;
  readonly limit: number;
}

/** Says whether a pattern can only match across lines. */
export const spansLines = (pattern: string, isLiteral: boolean): boolean =>
  pattern.includes('\n') || (!isLiteral && /(?<!\\)(?:\\\\)*\\n/.test(pattern));

/** Says whether a pattern has operators, so that it means something else as plain text. */
export const hasOperators = ({ pattern, literal }: Pick<SearchParams, 'pattern' | 'literal'>): boolean =>
  !literal && /[\\^$.*+?()[\]{}|]/.test(pattern);

/** The file or folder that one call searches, and the arguments of ripgrep for it. */
export interface SearchScope {
  readonly target: OpenedFile;
  /** The folder that found paths are relative to. */
  readonly folder: string;
  readonly argv: readonly string[];
  /** Says whether a file that ripgrep finds is selected, by its path below the folder. */
  isChosen(path: string): boolean;
}

/** The largest file that is searched across lines, in megabytes: ripgrep reads such files whole. */
const multilineMegabytes = 100;

/**
 * Opens the file or folder to search; with a glob, the folder that the glob begins with. Throws what opening
 * throws.
 */
export async function openScope(
  request: SearchParams,
  context: Pick<PlanContext, 'workspace'>,
): Promise<SearchScope> {
  const workspace = rooted(context.workspace);
  const isExcluding = request.glob?.startsWith('!') === true;
  const glob = request.glob === undefined ? undefined : parseGlob(request.glob.replace(/^!/, ''));
  const pattern = isExcluding ? undefined : glob;
  let target = await workspace.open('any', request.path);
  const isFile = target.stat.isFile();
  if (pattern?.folder && !isFile) {
    await target.handle.close();
    target = await openPatternFolder(workspace, request.path, pattern);
  }
  const selection = selectFiles({ ...request, pattern });
  return {
    target,
    folder: isFile ? dirname(target.path) : target.path,
    argv: [
      '--with-filename',
      '--null',
      // Without it, `;$` would match nothing in a file with Windows line ends.
      '--crlf',
      ...(request.ignore_case ? ['--ignore-case'] : []),
      ...(request.literal ? ['--fixed-strings'] : []),
      // These files are read whole, even binary ones, unless ripgrep can map a single one into memory.
      ...(request.multiline ? ['--multiline', `--max-filesize=${multilineMegabytes}M`] : []),
      ...(request.encoding === undefined ? [] : [`--encoding=${resolveEncoding(request.encoding).label}`]),
      ...selection.argv,
      ...(isExcluding ? [`--glob=${request.glob}`] : []),
      `--regexp=${request.pattern}`,
      '--',
    ],
    isChosen: (path) => isFile || (selection.isChosen(path) && !workspace.denies(join(target.path, path))),
  };
}
