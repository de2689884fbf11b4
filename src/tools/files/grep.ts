import { join } from 'node:path';
import * as z from 'zod';
import { also, unlisted } from '../../core/accepted.ts';
import { ToolcribError } from '../../core/errors.ts';
import { flag } from '../../core/params.ts';
import { defineTool, type ToolCallContext } from '../define-tool.ts';
import { displayPath } from '../../machine/paths/display-path.ts';
import { inlineLimit, sanitize } from '../../machine/sanitize.ts';
import { formatCount, rootRelative, formatNumber } from './wording.ts';
import {
  globParam,
  hasOperators,
  literalParam,
  openScope,
  patternParam,
  scopeParam,
  selectionParams,
  spansLines,
  type SearchRequest,
} from './searching/search-request.ts';
import { findMatches, type FoundFile } from './searching/matches.ts';

const lineCountParam = (description = '') => z.int().min(0).optional().describe(description);

const params = z.strictObject({
  pattern: patternParam('Regular expression, Rust syntax: fn \\w+\\('),
  path: scopeParam,
  glob: globParam,
  context: also(lineCountParam('Lines around each match: 3'), '-C context_lines'),
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
  before: unlisted(lineCountParam(), '-B lines_before'),
  after: unlisted(lineCountParam(), '-A lines_after'),
  case_sensitive: unlisted(z.boolean().optional()),
  line_numbers: unlisted(z.boolean().optional(), '-n'),
  ...selectionParams,
});

/** Searches the contents of files by a regular expression. */
export default defineTool({
  name: 'grep',
  title: 'Search text in files',
  description:
    'Searches text in files by regular expression: matching lines by file, or files, or counts. ' +
    'Leaves out what git ignores, and binary files.',
  toolset: 'files',
  hint: 'search text in files',
  aliases: 'Grep search search_files search_file_content grep_search',
  listed: 'first',
  effects: ['read'],
  params,
  async run({ work }, context) {
    const text = await answerSearch(completeParams(work), context);
    return { content: [{ type: 'text', text }] };
  },
});

/** The request of a call, with defaults and limits filled in. */
function completeParams(request: z.output<typeof params>): SearchRequest {
  const { output = 'lines', context = 0, before = context, after = context } = request;
  const { limit = 200, case_sensitive } = request;
  const literal = request.literal || request.is_regexp === false;
  return {
    ...request,
    output,
    before: Math.min(20, before),
    after: Math.min(20, after),
    limit: Math.min(1000, limit),
    literal,
    ignore_case: request.ignore_case || case_sensitive === false,
    multiline: request.multiline || spansLines(request.pattern, literal),
  };
}

/** Answers a search; without a match, tries the pattern as plain text, and counts matches elsewhere. */
async function answerSearch(request: SearchRequest, context: ToolCallContext): Promise<string> {
  const searchWith = (change: Partial<SearchRequest> = {}) => searchFor({ ...request, ...change }, context);
  let answer: GrepAnswer;
  try {
    answer = await searchWith();
  } catch (error) {
    const isSyntax = error instanceof ToolcribError && error.message.startsWith('pattern: regex parse');
    const literal = isSyntax && hasOperators(request) ? await searchWith({ literal: true }) : undefined;
    if (!literal || literal.files === 0) throw error;
    return withNotes(literal, ['it is no regular expression, and was taken as plain text']);
  }
  if (answer.files > 0 || answer.notes.length > 0) return withNotes(answer, []);
  const literal = hasOperators(request) ? await searchWith({ literal: true }) : undefined;
  if (literal && literal.files > 0)
    return withNotes(literal, ['nothing fits the regular expression; this fits it as plain text']);
  const countWith = async (change: Partial<SearchRequest>, condition: string): Promise<string[]> => {
    const { matches, files, isFile } = await searchWith({ ...change, output: 'count' });
    const isOther = matches > 0 && !(isFile && change.hidden);
    return isOther ? [`${condition}: ${formatNumber(matches)} in ${formatCount(files, 'file')}`] : [];
  };
  const others = await Promise.all([
    request.ignore_case ? [] : countWith({ ignore_case: true }, 'with ignore_case'),
    countWith({ ignored: true, hidden: true }, 'with ignored and hidden, in files left out here'),
  ]);
  return withNotes(answer, others.flat());
}

/** The lines of an answer, notes on it, and the numbers of matches. */
interface GrepAnswer {
  readonly lines: readonly string[];
  readonly notes: readonly string[];
  /** The number of files with matches. */
  readonly files: number;
  /** The number of matching lines. */
  readonly matches: number;
  readonly isFile: boolean;
}

const withNotes = ({ lines, notes }: GrepAnswer, more: readonly string[]): string => {
  const text = lines.length > 0 ? lines.join('\n') : 'No matches.';
  return notes.length + more.length > 0 ? `${text}\n[${[...more, ...notes].join('; ')}]` : text;
};

async function searchFor(request: SearchRequest, context: ToolCallContext): Promise<GrepAnswer> {
  const scope = await openScope(request, context);
  const { target } = scope;
  const isFile = target.stat.isFile();
  try {
    const { files, more, notes } = await findMatches(request, scope, context);
    // A single file is shown by its own path: ripgrep prints the path by which it was opened.
    const nameOf = (path: string) =>
      displayPath(rootRelative(isFile ? target.path : join(target.path, path), context.workspace.roots));
    const { lines, shown } = formatMatches(files, request, nameOf);
    const sanitized = lines.map(sanitize);
    const matches = files.reduce((all, { count }) => all + count, 0);
    const inLines = request.output === 'lines';
    const isCut = more || shown < (inLines ? matches : files.length);
    const allNotes = [...notes];
    if (isCut) {
      const rest = more ? 'there are more' : `${formatNumber(matches - shown)} more`;
      const some = inLines
        ? `${formatCount(shown, 'matching line')}, ${rest}`
        : `${shown} of ${files.length}${more ? ' or more' : ''} files`;
      allNotes.unshift(`${some}; narrow it by path or glob`);
    }
    const hasTotal = request.output === 'count' ? matches > 0 : inLines && !isCut && matches > 5;
    if (hasTotal)
      allNotes.push(
        `${formatCount(matches, inLines ? 'line' : 'matching line')} in ${formatCount(files.length, 'file')}`,
      );
    if (sanitized.some((line, index) => line !== lines[index]))
      allNotes.push('control and invisible characters are left out here');
    return { lines: sanitized, notes: allNotes, files: files.length, matches, isFile };
  } finally {
    await target.handle.close();
  }
}

/** Formats matches or files up to the limit, as long as they fit; a match comes with the lines around it. */
function formatMatches(
  files: readonly FoundFile[],
  { output, before, after, limit }: SearchRequest,
  nameOf: (path: string) => string,
) {
  const lines: string[] = [];
  let room = inlineLimit - 1_500;
  let shown = 0;
  const add = (line: string) => {
    room -= line.length + 1;
    lines.push(line);
  };
  for (const { path, lines: fileLines, count } of files) {
    if (shown >= limit || room <= 0) break;
    if (lines.length > 0 && output === 'lines') add('');
    add(nameOf(path) + (output === 'count' ? `:${count}` : ''));
    if (output !== 'lines') shown++;
    let above = fileLines[0]?.number ?? 0;
    let match = -Infinity;
    for (const { number, isMatch, text } of fileLines) {
      // Lines above a match that is not shown are not shown, either.
      const isBelow = !isMatch && number <= match + after;
      if (!isBelow && (shown >= limit || room <= 0)) break;
      if (before + after > 0 && number > above + 1) add('--');
      add(`${number}${isMatch ? ':' : '-'}${text}`);
      above = number;
      if (!isMatch) continue;
      match = number;
      shown++;
    }
  }
  return { lines, shown };
}
