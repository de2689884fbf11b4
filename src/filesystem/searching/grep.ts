import { join } from 'node:path';
import { ToolcribError } from '../../core/errors.ts';
import { grepParams, grepRequest, type GrepParams } from './grep-params.ts';
import { defineSimpleTool, type Tool } from '../../core/tool.ts';
import { shownPath } from '../../machine/paths/shown-path.ts';
import { rooted } from '../../machine/paths/workspace.ts';
import { inlineLimit, presentable } from '../../machine/presentable.ts';
import { parseGlob } from '../listing/glob-pattern.ts';
import { findMatches, type FoundMatches, type GrepSearch, type Match } from './found-matches.ts';
import { openScope } from './search-scope.ts';
import { nameInRoots } from '../name-in-roots.ts';
import type { Services } from '../services.ts';
import { withCommas } from '../with-commas.ts';

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
      const given = grepRequest(values);
      const pattern = given.glob === undefined ? undefined : parseGlob(given.glob.replace(/^!/, ''));
      const where = await openScope(given, pattern, rooted(context.workspace));
      try {
        const text = await answerOf({ given, pattern, where, context, services });
        return { content: [{ type: 'text', text }] };
      } finally {
        await where.handle.close();
      }
    },
  });

/** What is found; else what a look at the same text in another way finds. */
async function answerOf(request: GrepSearch): Promise<string> {
  const { given } = request;
  const asText = { ...request, given: { ...given, literal: true, cursor: undefined } };
  const hasSigns = !given.literal && /[\\^$.*+?()[\]{}|]/.test(given.pattern);
  let page: Page;
  try {
    page = await pageOf(request);
  } catch (error) {
    const isSyntax = error instanceof ToolcribError && error.message.startsWith('pattern: regex parse');
    const literal = isSyntax && hasSigns ? await pageOf(asText) : undefined;
    if (!literal || literal.list.items.length === 0) throw error;
    return withNotes(literal, ['it is no regular expression, and was taken as plain text']);
  }
  const isComplete = page.list.items.length === 0 && page.list.notes.length === 0;
  if (!isComplete || given.cursor !== undefined) return withNotes(page, []);
  const literal = hasSigns ? await pageOf(asText) : undefined;
  if (literal && literal.list.items.length > 0)
    return withNotes(literal, ['nothing fits the regular expression; this fits it as plain text']);
  return withNotes(page, await otherwise(request));
}

/** What would be found ignoring case, or in files that are left out. */
async function otherwise(request: GrepSearch): Promise<string[]> {
  const count = async (change: Partial<GrepParams>, words: string): Promise<string[]> => {
    const given = { ...request.given, ...change, output: 'count' as const };
    const { items } = await findMatches({ ...request, given });
    const lines = items.reduce((sum, item) => sum + item.count, 0);
    return lines === 0 ? [] : [`${words}: ${withCommas(lines)} in ${countOf(items.length, 'file')}`];
  };
  const { ignore_case: folds, ignored, hidden } = request.given;
  const all = await Promise.all([
    folds ? [] : count({ ignore_case: true }, 'with ignore_case'),
    (ignored && hidden) || request.where.stat.isFile()
      ? []
      : count({ ignored: true, hidden: true }, 'with ignored and hidden, in files left out here'),
  ]);
  return all.flat();
}

const countOf = (count: number, what: string): string =>
  `${withCommas(count)} ${what}${count === 1 ? '' : 's'}`;

const mostCharacters = inlineLimit - 1_500;

interface Page {
  readonly text: string;
  readonly list: FoundMatches;
  readonly notes: readonly string[];
}

const withNotes = ({ text, notes }: Page, more: readonly string[]): string =>
  notes.length + more.length > 0 ? `${text}\n[${[...more, ...notes].join('; ')}]` : text;

async function pageOf(request: GrepSearch): Promise<Page> {
  const { given, where, context, services } = request;
  const { limit, cursor, ...asked } = given;
  const question = JSON.stringify(['grep', where.path, asked]);
  // ripgrep prints a file by the path it was given.
  const nameOf = (path: string) =>
    shownPath(nameInRoots(join(where.path, where.stat.isFile() ? '' : path), context.workspace.roots));
  const { list, from, to, lines, next } = await services.lists.page({
    question,
    cursor,
    make: () => findMatches(request),
    limit,
    room: mostCharacters,
    linesAt({ items }, index, isFirst) {
      const [match, last] = [items[index], isFirst ? undefined : items[index - 1]];
      return match ? linesOf(match, last, given, nameOf) : [];
    },
  });
  const clean = lines.map(presentable);
  const notes = notesOf(list, { from, to, output: given.output, next });
  if (clean.some((line, index) => line !== lines[index]))
    notes.push('control and invisible characters are left out here');
  const text = lines.length > 0 ? clean.join('\n') : from === 0 ? 'No matches.' : 'No more matches.';
  return { text, list, notes };
}

/** What a match adds to a page, below the one before it. */
function linesOf(
  { path, lines, count }: Match,
  last: Match | undefined,
  given: GrepParams,
  nameOf: (path: string) => string,
): string[] {
  if (given.output !== 'lines') return [nameOf(path) + (given.output === 'count' ? `:${count}` : '')];
  const isNew = path !== last?.path;
  const page = isNew ? [...(last ? [''] : []), nameOf(path)] : [];
  let above = isNew ? undefined : last?.lines.at(-1)?.number;
  for (const line of lines) {
    if (given.before + given.after > 0 && above !== undefined && line.number > above + 1) page.push('--');
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

const narrower = 'narrow it by path or glob';

function notesOf({ items: matches, more, notes }: FoundMatches, { from, to, output, next }: Shown): string[] {
  const shown = to - from;
  const cursor = next === undefined ? narrower : `next: cursor ${next}, or ${narrower}`;
  const left = more ? 'there are more' : `${withCommas(matches.length - to)} more`;
  const all = [...notes];
  const isCut = next !== undefined || more;
  const sum = matches.reduce((total, { count }) => total + count, 0);
  const files = new Set(matches.map(({ path }) => path)).size;
  if (isCut && output === 'lines') all.unshift(`${shown} matching lines, ${left}; ${cursor}`);
  else if (isCut) all.unshift(`${shown} of ${matches.length}${more ? ' or more' : ''} files; ${cursor}`);
  else if (output === 'lines' && matches.length > 5)
    all.push(`${countOf(sum, 'line')} in ${countOf(files, 'file')}`);
  if (output === 'count' && sum > 0)
    all.push(`${withCommas(sum)} matching lines in ${countOf(files, 'file')}`);
  return all;
}
