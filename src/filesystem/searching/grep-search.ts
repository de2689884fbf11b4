import { lstatSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { CallContext } from '../../core/tool.ts';
import type { Opened } from '../../machine/paths/opened.ts';
import { rooted } from '../../machine/paths/workspace.ts';
import { namedEncoding } from '../text/encoding-name.ts';
import type { GlobPattern } from '../listing/glob-pattern.ts';
import { gatherHits, gatherLines, mostUnordered, type Wanted } from './grep-gather.ts';
import { around, questionOf, type GrepParams } from './grep-params.ts';
import { keyOf, positionAt, type Rank } from './grep-position.ts';
import { hitsPage, linesPage, widthOf, type View } from './grep-result.ts';
import { decoded, mostPrinted, readHits, readLines, type Reader } from './ripgrep-output.ts';
import { notesOn, search, type Ended } from './ripgrep.ts';
import { pathFor, scopeOf } from './search-scope.ts';
import type { Services } from '../services.ts';

/** A search of one call: what is looked for, and where. */
export interface Task {
  readonly given: GrepParams;
  readonly pattern: GlobPattern | undefined;
  readonly where: Opened;
  readonly context: CallContext;
  readonly services: Services;
}

/** Clients give up after a minute, and a search may have to be made twice. */
const timeoutMs = { search: 30_000, call: 45_000 };
const narrower = 'or narrow it by path, glob or type';
/** Megabytes; the description of the parameter says so. */
const multilineMegabytes = 100;

/**
 * A page of matching lines as text. ripgrep is fastest when its threads print files as they come; then only all of them
 * tell which are the first. So it searches like that until there are many more matches than a page has, and then once
 * more in order, with one thread, but only to the end of the page. A later page passes over what came before it.
 */
export async function searchLines(task: Task): Promise<string> {
  const { given, where } = task;
  const { before, after } = around(given);
  const endsAt = performance.now() + timeoutMs.call;
  const wanted = wantedOf(task);
  const attempt = async (inOrder: boolean) => {
    const gathered = gatherLines(wanted, inOrder);
    const reader = readLines(widthOf(before + after), gathered.add);
    const ended = await run(task, {
      argv: [...lineArguments(given), ...orderArguments(given, wanted, inOrder)],
      reader,
      isEnough: () => gathered.isEnough,
      timeoutMs: Math.min(timeoutMs.search, endsAt - performance.now()),
    });
    return { gathered, reader, ended, inOrder };
  };
  const isFile = where.stat.isFile();
  const first = await attempt(isFile);
  const { gathered, reader, ended, inOrder } =
    first.ended.early === 'enough' && !isFile ? await attempt(true) : first;

  const page = linesPage(gathered.files(), { ...viewOf(task), before, after });
  const more = gathered.matches - page.shown;
  const notes: string[] = [];
  if (ended.early === 'timed_out') notes.push(timedOut(inOrder ? page.cursor : undefined));
  else if (ended.early === 'enough' || more > 0) {
    const others = inOrder ? 'there are more' : `${more} more`;
    notes.push(`${page.shown} matching lines, ${others}; next: cursor ${page.cursor}, ${narrower}`);
  }
  if (page.hasInvisible) notes.push('control and invisible characters are left out here');
  if (isFile && reader.rest.includes('binary file matches'))
    notes.push('the file is binary: what matches is not shown');
  return textOf(page.lines, task, [...notes, ...notesOn(ended)]);
}

/** A page of files that have matches, or of how many lines match in each, as text. */
export async function searchHits(task: Task): Promise<string> {
  const { given } = task;
  const gathered = gatherHits(wantedOf(task));
  const counted = given.mode === 'count';
  const ended = await run(task, {
    argv: [counted ? '--count' : '--files-with-matches'],
    reader: readHits(counted, gathered.add),
    isEnough: () => false,
    timeoutMs: timeoutMs.search,
  });
  const hits = gathered.hits();
  const page = hitsPage(hits, counted, viewOf(task));
  const { files, matches } = gathered.total;
  const notes: string[] = [];
  if (ended.early === 'timed_out') notes.push(timedOut(undefined));
  else if (page.shown < hits.length)
    notes.push(`${page.shown} of ${files} files; next: cursor ${page.cursor}, ${narrower}`);
  if (counted && files > 0) notes.push(`${matches} matching lines in ${files} files`);
  return textOf(page.lines, task, [...notes, ...notesOn(ended)]);
}

function orderArguments({ sort }: GrepParams, { limit, after }: Wanted, inOrder: boolean): string[] {
  // Threads keep all that they will print of a file in memory until its end.
  if (!inOrder) return [`--max-count=${mostUnordered(limit)}`];
  // There cannot be more matches in what is passed over than there are lines.
  const useful = `--max-count=${(after?.line ?? 0) + limit + 1}`;
  return [sort === 'path' ? '--sort=path' : '--sortr=modified', useful];
}

const timedOut = (cursor: string | undefined): string =>
  `stopped after ${timeoutMs.search / 1000} s, not all was searched: ${cursor === undefined ? '' : `go on with cursor ${cursor}, or `}search a smaller folder`;

function textOf(lines: readonly string[], { given }: Task, notes: readonly string[]): string {
  const none = given.cursor === undefined ? 'No matches.' : 'No more matches.';
  const text = lines.length > 0 ? lines.join('\n') : none;
  return notes.length > 0 ? `${text}\n[${notes.join('; ')}]` : text;
}

interface Run {
  readonly argv: readonly string[];
  readonly reader: Reader;
  isEnough(): boolean;
  readonly timeoutMs: number;
}

function run(task: Task, { argv, reader, isEnough, timeoutMs: most }: Run): Promise<Ended> {
  const { given, pattern, where, context, services } = task;
  const isFile = where.stat.isFile();
  const hidden = given.hidden || pattern?.hidden === true;
  return search(services, {
    argv: [...argv, ...sharedArguments(task), isFile ? where.stablePath : './'],
    folder: isFile ? dirname(where.path) : where.stablePath,
    realFolder: isFile ? dirname(where.path) : where.path,
    signal: context.signal,
    timeoutMs: Math.max(1, most),
    ignoreFiles: given.ignored || isFile ? 'none' : hidden ? 'all' : 'visible',
    take(chunk) {
      reader.take(chunk);
      return !isEnough();
    },
  });
}

function lineArguments(given: GrepParams): string[] {
  const { before, after } = around(given);
  return [
    '--line-number',
    // Where the match is, so that a long line can be shown from there.
    '--column',
    '--no-heading',
    '--no-context-separator',
    `--max-columns=${mostPrinted}`,
    '--max-columns-preview',
    `--before-context=${before}`,
    `--after-context=${after}`,
  ];
}

function sharedArguments({ given, pattern }: Task): string[] {
  const excluded = given.glob?.startsWith('!') === true;
  return [
    '--with-filename',
    '--null',
    // Otherwise `;$` would match nothing in a file with Windows line ends.
    '--crlf',
    ...(given.ignore_case ? ['--ignore-case'] : []),
    ...(given.fixed ? ['--fixed-strings'] : []),
    // Such files are read whole, even when they are binary; a single one can be mapped instead.
    ...(given.multiline ? ['--multiline', `--max-filesize=${multilineMegabytes}M`] : []),
    ...(given.encoding === undefined ? [] : [`--encoding=${namedEncoding(given.encoding).label}`]),
    ...scopeOf({ ...given, pattern: excluded ? undefined : pattern }),
    ...(excluded ? [`--glob=${given.glob}`] : []),
    `--regexp=${given.pattern}`,
    '--',
  ];
}

const viewOf = ({ given, where, context }: Task): View => ({
  limit: given.limit,
  question: questionOf(given),
  nameOf: (path) => pathFor(where.stat.isFile() ? '' : path, where.path, context.workspace.roots),
});

function wantedOf(task: Task): Wanted {
  const { given, where } = task;
  const after = positionAt(given.cursor, questionOf(given));
  // ripgrep prints it by the path it was given.
  if (where.stat.isFile()) return { limit: given.limit, after, rankOf: () => ({ key: '' }) };
  const chosen = chooser(task);
  const workspace = rooted(task.context.workspace);
  return {
    limit: given.limit,
    after,
    rankOf(path): Rank | undefined {
      if (chosen && !chosen(decoded(path))) return undefined;
      if (workspace.denies(join(where.path, decoded(path)))) return undefined;
      const key = keyOf(path);
      return given.sort === 'path' ? { key } : { key, modified: modifiedAt(where.stablePath, path) };
    },
  };
}

/** Which of the files that were found are wanted; undefined when ripgrep has chosen them all by itself. */
function chooser({ given, pattern }: Task): ((name: string) => boolean) | undefined {
  if (!pattern || given.glob?.startsWith('!')) return undefined;
  return pattern.namesDecide && given.type === undefined ? undefined : pattern.matches;
}

/** In milliseconds. Asked without a thread in between: they are many, and ripgrep has just read them. */
function modifiedAt(folder: string, path: string): number {
  const bytes = Buffer.concat([Buffer.from(`${folder}/`), Buffer.from(path, 'latin1')]);
  // It may be gone already; then it comes last.
  return lstatSync(bytes, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
