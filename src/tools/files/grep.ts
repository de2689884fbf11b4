import { join } from 'node:path';
import { ToolcribError } from '../../core/errors.ts';
import type { CallContext } from '../../core/tool.ts';
import { defineTool } from '../define-tool.ts';
import { displayPath } from '../../machine/paths/display-path.ts';
import { inlineLimit, sanitize } from '../../machine/sanitize.ts';
import { countOf, rootRelative, withCommas } from './wording.ts';
import type { Session } from '../../machine/session.ts';
import { grepParams, grepRequest, hasSigns, openScope, type GrepParams } from './searching/search-request.ts';
import { findMatches, type FoundFile } from './searching/matches.ts';

/** Contents of files by a regular expression. */
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
  params: grepParams,
  async run({ work }, context) {
    const text = await answerOf(grepRequest(work), context, context.session);
    return { content: [{ type: 'text', text }] };
  },
});

/** What is found; else what a look at the same text in another way finds. */
async function answerOf(given: GrepParams, context: CallContext, session: Session): Promise<string> {
  const look = (change: Partial<GrepParams> = {}) => lookFor({ ...given, ...change }, context, session);
  let found: GrepAnswer;
  try {
    found = await look();
  } catch (error) {
    const isSyntax = error instanceof ToolcribError && error.message.startsWith('pattern: regex parse');
    const literal = isSyntax && hasSigns(given) ? await look({ literal: true }) : undefined;
    if (!literal || literal.files === 0) throw error;
    return withNotes(literal, ['it is no regular expression, and was taken as plain text']);
  }
  if (found.files > 0 || found.notes.length > 0) return withNotes(found, []);
  const literal = hasSigns(given) ? await look({ literal: true }) : undefined;
  if (literal && literal.files > 0)
    return withNotes(literal, ['nothing fits the regular expression; this fits it as plain text']);
  // What would be found ignoring case, or in files that are left out.
  const counted = async (change: Partial<GrepParams>, words: string): Promise<string[]> => {
    const { matches, files, isFile } = await look({ ...change, output: 'count' });
    const isOther = matches > 0 && !(isFile && change.hidden);
    return isOther ? [`${words}: ${withCommas(matches)} in ${countOf(files, 'file')}`] : [];
  };
  const others = await Promise.all([
    given.ignore_case ? [] : counted({ ignore_case: true }, 'with ignore_case'),
    counted({ ignored: true, hidden: true }, 'with ignored and hidden, in files left out here'),
  ]);
  return withNotes(found, others.flat());
}

interface GrepAnswer {
  readonly lines: readonly string[];
  readonly notes: readonly string[];
  /** How many files match, and lines in them. */
  readonly files: number;
  readonly matches: number;
  readonly isFile: boolean;
}

const withNotes = ({ lines, notes }: GrepAnswer, more: readonly string[]): string => {
  const text = lines.length > 0 ? lines.join('\n') : 'No matches.';
  return notes.length + more.length > 0 ? `${text}\n[${[...more, ...notes].join('; ')}]` : text;
};

async function lookFor(given: GrepParams, context: CallContext, session: Session): Promise<GrepAnswer> {
  const scope = await openScope(given, context);
  const { where } = scope;
  const isFile = where.stat.isFile();
  try {
    const { files, more, notes } = await findMatches(given, scope, context, session);
    // ripgrep prints a file by the path it was given.
    const nameOf = (path: string) =>
      displayPath(rootRelative(isFile ? where.path : join(where.path, path), context.workspace.roots));
    const { lines, shown } = shownMatches(files, given, nameOf);
    const clean = lines.map(sanitize);
    const matches = files.reduce((all, { count }) => all + count, 0);
    const inLines = given.output === 'lines';
    const isCut = more || shown < (inLines ? matches : files.length);
    const all = [...notes];
    if (isCut) {
      const left = more ? 'there are more' : `${withCommas(matches - shown)} more`;
      const some = inLines
        ? `${countOf(shown, 'matching line')}, ${left}`
        : `${shown} of ${files.length}${more ? ' or more' : ''} files`;
      all.unshift(`${some}; narrow it by path or glob`);
    }
    if (given.output === 'count' ? matches > 0 : inLines && !isCut && matches > 5)
      all.push(`${countOf(matches, inLines ? 'line' : 'matching line')} in ${countOf(files.length, 'file')}`);
    if (clean.some((line, index) => line !== lines[index]))
      all.push('control and invisible characters are left out here');
    return { lines: clean, notes: all, files: files.length, matches, isFile };
  } finally {
    await where.handle.close();
  }
}

/** As many matches, or files, as are wanted and fit; a match goes with the lines around it. */
function shownMatches(
  files: readonly FoundFile[],
  { output, before, after, limit }: GrepParams,
  nameOf: (path: string) => string,
) {
  const lines: string[] = [];
  let [room, shown] = [inlineLimit - 1_500, 0];
  const add = (line: string) => {
    room -= line.length + 1;
    lines.push(line);
  };
  for (const { path, lines: found, count } of files) {
    if (shown >= limit || room <= 0) break;
    if (lines.length > 0 && output === 'lines') add('');
    add(nameOf(path) + (output === 'count' ? `:${count}` : ''));
    if (output !== 'lines') shown++;
    let [above, match] = [found[0]?.number ?? 0, -Infinity];
    for (const { number, isMatch, text } of found) {
      // What is above a match that is not shown is not shown either.
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
