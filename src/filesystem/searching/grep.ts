import { join } from 'node:path';
import { grepParams, type GrepParams } from './grep-params.ts';
import { defineSimpleTool, type CallContext, type Tool } from '../../core/tool.ts';
import type { Opened } from '../../machine/paths/opened.ts';
import { shownPath } from '../../machine/paths/shown-path.ts';
import { rooted } from '../../machine/paths/workspace.ts';
import { inlineLimit, presentable } from '../../machine/presentable.ts';
import { openPatternFolder, parseGlob, type GlobPattern } from '../listing/glob-pattern.ts';
import { findMatches, type FoundMatches, type GrepSearch, type Match } from './found-matches.ts';
import { decoded, type Line } from './ripgrep-output.ts';
import { nameInRoots } from '../name-in-roots.ts';
import type { Services } from '../services.ts';

/** Contents of files by a regular expression. */
export const grep = (services: Services): Tool =>
  defineSimpleTool({
    name: 'grep',
    program: 'files',
    title: 'Search in files',
    description:
      'Search the contents of files by regular expression, with ripgrep. Respects .gitignore; skips binary files.',
    effects: ['read'],
    params: grepParams,
    async call(given, context) {
      const pattern = given.glob === undefined ? undefined : parseGlob(given.glob.replace(/^!/, ''));
      const where = await placeOf(given, pattern, context);
      if (!where)
        return { content: [{ type: 'text', text: `No matches: there is no folder ${pattern?.folder}.` }] };
      try {
        const text = await pageOf({ given, pattern, where, context, services });
        return { content: [{ type: 'text', text }] };
      } finally {
        await where.handle.close();
      }
    },
  });

/** The file or folder to search; undefined when the folder with which the glob begins does not exist. */
async function placeOf(
  given: GrepParams,
  pattern: GlobPattern | undefined,
  context: CallContext,
): Promise<Opened | undefined> {
  const workspace = rooted(context.workspace);
  const base = await workspace.open('any', given.path);
  if (!pattern?.folder || given.glob?.startsWith('!') || base.stat.isFile()) return base;
  await base.handle.close();
  return openPatternFolder(workspace, base.path, pattern);
}

const mostCharacters = inlineLimit - 1_500;

async function pageOf(request: GrepSearch): Promise<string> {
  const { given, where, context, services } = request;
  const { mode, limit, cursor } = given;
  const question = JSON.stringify(['grep', where.path, { ...given, limit: 0, cursor: '' }]);
  // ripgrep prints a file by the path it was given.
  const nameOf = (path: string) =>
    shownPath(
      nameInRoots(join(where.path, where.stat.isFile() ? '' : decoded(path)), context.workspace.roots),
    );
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
  const notes = notesOf(list, { from, to, mode, next });
  if (clean.some((line, index) => line !== lines[index]))
    notes.push('control and invisible characters are left out here');
  const text = lines.length > 0 ? clean.join('\n') : from === 0 ? 'No matches.' : 'No more matches.';
  return notes.length > 0 ? `${text}\n[${notes.join('; ')}]` : text;
}

/** What a match adds to a page, below the one before it. */
function linesOf(
  { path, lines, count }: Match,
  last: Match | undefined,
  given: GrepParams,
  nameOf: (path: string) => string,
): string[] {
  if (given.mode !== 'lines') return [nameOf(path) + (given.mode === 'count' ? `:${count}` : '')];
  const isNew = path !== last?.path;
  const page = isNew ? [...(last ? [''] : []), nameOf(path)] : [];
  let above = isNew ? undefined : last?.lines.at(-1)?.number;
  for (const line of lines) {
    if (given.context > 0 && above !== undefined && line.number > above + 1) page.push('--');
    page.push(`${line.number}${line.isMatch ? ':' : '-'}${textOf(line)}`);
    above = line.number;
  }
  return page;
}

/** A line on one line: some files have lone carriage returns in theirs. */
function textOf({ text, cut }: Line): string {
  const shown = decoded(text).replaceAll('\r', '\u240d');
  return `${cut.before ? '…' : ''}${shown}${cut.after ? '…' : ''}`;
}

interface Shown {
  readonly from: number;
  readonly to: number;
  readonly mode: GrepParams['mode'];
  /** The cursor of the next page. */
  readonly next: string | undefined;
}

const narrower = 'narrow it by path, glob or type';

function notesOf({ items: matches, more, notes }: FoundMatches, { from, to, mode, next }: Shown): string[] {
  const shown = to - from;
  const cursor = next === undefined ? narrower : `next: cursor ${next}, or ${narrower}`;
  const left = more ? 'there are more' : `${matches.length - to} more`;
  const all = [...notes];
  if (mode === 'lines' && (next !== undefined || more))
    all.unshift(`${shown} matching lines, ${left}; ${cursor}`);
  if (mode !== 'lines' && (next !== undefined || more))
    all.unshift(`${shown} of ${matches.length}${more ? ' or more' : ''} files; ${cursor}`);
  const sum = matches.reduce((sum, { count }) => sum + count, 0);
  if (mode === 'count' && sum > 0) all.push(`${sum} matching lines in ${matches.length} files`);
  return all;
}
