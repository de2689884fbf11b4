import { dirname, join } from 'node:path';
import * as z from 'zod';
import { also, unlisted } from '../../../core/accepted.ts';
import { flag, path } from '../../../core/params.ts';
import type { PlanContext } from '../../../core/tool.ts';
import type { OpenedFile } from '../../../machine/paths/opened.ts';
import { rooted } from '../../../machine/paths/workspace.ts';
import { openPatternFolder, parseGlob } from '../listing/glob-pattern.ts';
import { namedEncoding } from '../text/encoding.ts';
import { scopeOf } from './ripgrep.ts';

/** A regular expression for ripgrep, or a text. */
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

export const literalParam = also(flag('pattern is plain text'), 'fixed fixed_strings -F is_literal');

export const globParam = also(
  z.string().min(1).optional().describe('Only such files: src/**/*.{ts,tsx}; !*.min.js leaves out'),
  'include include_pattern includes file_pattern glob_pattern -g',
);

/** Where to search, when that is the whole folder unless told. */
export const scopeParam = also(
  path('File or folder: src').default('.'),
  'dir_path dir directory folder file_path target_directory cwd',
);

/** What chooses files is taken by every search, and published by none: names and globs do. */
export const choosingParams = {
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
  /** The opposite of literal. */
  is_regexp: unlisted(z.boolean().optional()),
};

const lines = (description = '') => z.int().min(0).optional().describe(description);

export const grepParams = z.strictObject({
  pattern: patternParam('Regular expression, Rust syntax: fn \\w+\\('),
  path: scopeParam,
  glob: globParam,
  context: also(lines('Lines around each match: 3'), '-C context_lines'),
  ignore_case: also(flag('Upper and lower case alike'), '-i case_insensitive'),
  literal: literalParam,
  output: also(
    z.enum(['lines', 'files', 'count']).optional().describe('lines, files or count; lines unless told'),
    'output_mode mode',
    { values: { content: 'lines', files_with_matches: 'files', filenames: 'files', counts: 'count' } },
  ),
  limit: also(
    z.int().min(1).optional().describe('How many at most; 200 unless told'),
    'head_limit max_results max_count max_matches -m',
  ),
  before: unlisted(lines(), '-B lines_before'),
  after: unlisted(lines(), '-A lines_after'),
  case_sensitive: unlisted(z.boolean().optional()),
  line_numbers: unlisted(z.boolean().optional(), '-n'),
  ...choosingParams,
});

/** What chooses files, and what is looked for in them. */
export type ChosenFiles = Pick<
  z.output<typeof grepParams>,
  'pattern' | 'path' | 'glob' | 'literal' | 'ignore_case' | keyof typeof choosingParams
>;

/** What is searched for, after all has been said or assumed. */
export type GrepParams = Omit<z.output<typeof grepParams>, 'output' | 'before' | 'after' | 'limit'> & {
  readonly output: 'lines' | 'files' | 'count';
  readonly before: number;
  readonly after: number;
  readonly limit: number;
};

export function grepRequest(given: z.output<typeof grepParams>): GrepParams {
  const { output = 'lines', context = 0, before = context, after = context } = given;
  const { limit = 200, case_sensitive } = given;
  const literal = given.literal || given.is_regexp === false;
  return {
    ...given,
    output,
    before: Math.min(20, before),
    after: Math.min(20, after),
    limit: Math.min(1000, limit),
    literal,
    ignore_case: given.ignore_case || case_sensitive === false,
    multiline: given.multiline || spansLines(given.pattern, literal),
  };
}

/** Whether a pattern can only match across lines. */
export const spansLines = (pattern: string, isLiteral: boolean): boolean =>
  pattern.includes('\n') || (!isLiteral && /(?<!\\)(?:\\\\)*\\n/.test(pattern));

/** Whether it would be another text as plain text. */
export const hasSigns = ({ pattern, literal }: Pick<ChosenFiles, 'pattern' | 'literal'>): boolean =>
  !literal && /[\\^$.*+?()[\]{}|]/.test(pattern);

/** Where one call searches, and how ripgrep is told so. */
export interface SearchScope {
  readonly where: OpenedFile;
  /** The folder that paths begin at. */
  readonly folder: string;
  readonly argv: readonly string[];
  /** Whether a file that ripgrep finds is wanted, by its path below the folder. */
  isChosen(path: string): boolean;
}

/** Megabytes of a file that is searched across lines: it is read whole. */
const multilineMegabytes = 100;

/** The file or folder to search: the one with which the glob begins. Throws what opening throws. */
export async function openScope(
  given: ChosenFiles,
  context: Pick<PlanContext, 'workspace'>,
): Promise<SearchScope> {
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
  const chosen = scopeOf({ ...given, pattern });
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
      ...chosen.argv,
      ...(isExcluding ? [`--glob=${given.glob}`] : []),
      `--regexp=${given.pattern}`,
      '--',
    ],
    isChosen: (path) => isFile || (chosen.isChosen(path) && !workspace.denies(join(where.path, path))),
  };
}
