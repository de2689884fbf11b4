import { join } from 'node:path';
import { ToolcribError } from '../../core/errors.ts';
import { defineSimpleTool, type CallContext, type Tool } from '../../core/tool.ts';
import { shownPath } from '../../machine/paths/shown-path.ts';
import { inlineLimit, presentable } from '../../machine/presentable.ts';
import { nameInRoots } from '../name-in-roots.ts';
import type { Services } from '../services.ts';
import { withCommas } from '../with-commas.ts';
import { findMatches, type FoundMatches, type Match } from './found-matches.ts';
import { grepParams, grepRequest, hasSigns, type GrepParams } from './grep-params.ts';
import { openScope } from './search-scope.ts';

/** Contents of files by a regular expression. */
export const grep = (services: Services): Tool =>
  defineSimpleTool({
    name: 'grep',
    program: 'files',
    title: 'Search text in files',
    description:
      'Searches text in files by regular expression: matching lines by file, or files, or counts. ' +
      'Leaves out what git ignores, and binary files.',
    effects: ['read'],
    params: grepParams,
    async call(values, context) {
      const text = await answerOf(grepRequest(values), context, services);
      return { content: [{ type: 'text', text }] };
    },
  });

/** What is found; else what a look at the same text in another way finds. */
async function answerOf(given: GrepParams, context: CallContext, services: Services): Promise<string> {
  const page = (change: Partial<GrepParams> = {}) => pageOf({ ...given, ...change }, context, services);
  const asText = () => page({ literal: true, cursor: undefined });
  let found: Page;
  try {
    found = await page();
  } catch (error) {
    const isSyntax = error instanceof ToolcribError && error.message.startsWith('pattern: regex parse');
    const literal = isSyntax && hasSigns(given) ? await asText() : undefined;
    if (!literal || literal.total === 0) throw error;
    return withNotes(literal, ['it is no regular expression, and was taken as plain text']);
  }
  if (found.total > 0 || found.notes.length > 0 || given.cursor !== undefined) return withNotes(found, []);
  const literal = hasSigns(given) ? await asText() : undefined;
  if (literal && literal.total > 0)
    return withNotes(literal, ['nothing fits the regular expression; this fits it as plain text']);
  // What would be found ignoring case, or in files that are left out.
  const counted = async (change: Partial<GrepParams>, words: string): Promise<string[]> => {
    const { sum, total, isFile } = await page({ ...change, output: 'count' });
    const isOther = sum > 0 && !(isFile && change.hidden);
    return isOther ? [`${words}: ${withCommas(sum)} in ${countOf(total, 'file')}`] : [];
  };
  const others = await Promise.all([
    given.ignore_case ? [] : counted({ ignore_case: true }, 'with ignore_case'),
    counted({ ignored: true, hidden: true }, 'with ignored and hidden, in files left out here'),
  ]);
  return withNotes(found, others.flat());
}

const countOf = (count: number, what: string): string =>
  `${withCommas(count)} ${what}${count === 1 ? '' : 's'}`;

interface Page {
  readonly text: string;
  readonly notes: readonly string[];
  /** Items, and matching lines, of all pages. */
  readonly total: number;
  readonly sum: number;
  readonly isFile: boolean;
}

const withNotes = ({ text, notes }: Page, more: readonly string[]): string =>
  notes.length + more.length > 0 ? `${text}\n[${[...more, ...notes].join('; ')}]` : text;

async function pageOf(given: GrepParams, context: CallContext, services: Services): Promise<Page> {
  const scope = await openScope(given, context);
  try {
    const { limit, cursor, output, ...asked } = given;
    const { roots } = context.workspace;
    const isFile = scope.where.stat.isFile();
    const { list, from, to, lines, next } = await services.lists.page({
      question: JSON.stringify(['grep', scope.where.path, output, asked]),
      cursor,
      make: () => findMatches(given, scope, context, services),
      limit,
      room: inlineLimit - 1_500,
      linesAt({ items }, index, isFirst) {
        const [match, last] = [items[index], isFirst ? undefined : items[index - 1]];
        if (!match) return [];
        // ripgrep prints a file by the path it was given.
        const at = isFile ? scope.where.path : join(scope.where.path, match.path);
        return linesOf(match, last, given, shownPath(nameInRoots(at, roots)));
      },
    });
    const clean = lines.map(presentable);
    const sum = list.items.reduce((all, { count }) => all + count, 0);
    const notes = notesOf(list, sum, { from, to, output, next });
    if (clean.some((line, index) => line !== lines[index]))
      notes.push('control and invisible characters are left out here');
    const text = lines.length > 0 ? clean.join('\n') : from === 0 ? 'No matches.' : 'No more matches.';
    return { text, notes, total: list.items.length, sum, isFile };
  } finally {
    await scope.where.handle.close();
  }
}

/** What a match adds to a page, below the one before it. */
function linesOf(
  { path, lines, count }: Match,
  last: Match | undefined,
  { output, before, after }: GrepParams,
  name: string,
): string[] {
  if (output !== 'lines') return [name + (output === 'count' ? `:${count}` : '')];
  const isNew = path !== last?.path;
  const page = isNew ? [...(last ? [''] : []), name] : [];
  let above = isNew ? undefined : last?.lines.at(-1)?.number;
  for (const line of lines) {
    if (before + after > 0 && above !== undefined && line.number > above + 1) page.push('--');
    page.push(`${line.number}${line.isMatch ? ':' : '-'}${line.text}`);
    above = line.number;
  }
  return page;
}

interface Shown {
  readonly from: number;
  readonly to: number;
  readonly output: GrepParams['output'];
  /** The cursor of the next page. */
  readonly next: string | undefined;
}

function notesOf(
  { items, more, notes }: FoundMatches,
  sum: number,
  { from, to, output, next }: Shown,
): string[] {
  const [total, inLines] = [items.length, output === 'lines'];
  const narrower = `${next === undefined ? '' : `next: cursor ${next}, or `}narrow it by path or glob`;
  const left = more ? 'there are more' : `${withCommas(total - to)} more`;
  const files = new Set(items.map(({ path }) => path)).size;
  const all = [...notes];
  if (next !== undefined || more)
    all.unshift(
      inLines
        ? `${to - from} matching lines, ${left}; ${narrower}`
        : `${to - from} of ${total}${more ? ' or more' : ''} files; ${narrower}`,
    );
  else if (inLines && total > 5) all.push(`${countOf(sum, 'line')} in ${countOf(files, 'file')}`);
  if (output === 'count' && sum > 0)
    all.push(`${withCommas(sum)} matching lines in ${countOf(files, 'file')}`);
  return all;
}
