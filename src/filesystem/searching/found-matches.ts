import { lstatSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { CallContext } from '../../core/tool.ts';
import type { Opened } from '../../machine/paths/opened.ts';
import { rooted } from '../../machine/paths/workspace.ts';
import { namedEncoding } from '../text/encoding-name.ts';
import type { GlobPattern } from '../listing/glob-pattern.ts';
import { around, type GrepParams } from './grep-params.ts';
import { decoded, mostPrinted, readHits, readLines, type Line, type Reader } from './ripgrep-output.ts';
import { notesOn, search, type Ended } from './ripgrep.ts';
import { scopeOf } from './search-scope.ts';
import type { Services } from '../services.ts';

/** A search of one call: what is looked for, and where. */
export interface Task {
  readonly given: GrepParams;
  readonly pattern: GlobPattern | undefined;
  readonly where: Opened;
  readonly context: CallContext;
  readonly services: Services;
}

/** A matching line with those around it that no earlier one has, or a file with matches. */
export interface Match {
  /** The file, below the searched folder. */
  readonly path: string;
  readonly lines: readonly Line[];
  /** How many lines of the file match. */
  readonly count: number;
}

/** All that was found, in order. */
export interface FoundMatches {
  readonly matches: readonly Match[];
  readonly paths: readonly string[];
  /** Whether there are more, which were left out. */
  readonly more: boolean;
  readonly notes: readonly string[];
}

/** Clients give up after a minute, and a search may have to be made twice. */
const timeoutMs = { search: 30_000, call: 45_000 };
/** Megabytes; the description of the parameter says so. */
const multilineMegabytes = 100;
/** More than anyone pages through; what is kept of a search is a few megabytes. */
const most = { matches: 10_000, bytes: 4 * 1024 * 1024, files: 100_000 };
/** So that a match with all that is around it fits into a page. */
const widthOf = (around: number): number => Math.min(500, Math.floor(12_000 / (1 + around)));

/**
 * Matching lines. ripgrep is fastest when its threads print files as they come; only when there are more lines than are
 * kept it searches once more in order, with one thread, for those that come first.
 */
export async function findLines(task: Task): Promise<FoundMatches> {
  const { given, where } = task;
  const { before, after } = around(given);
  const endsAt = performance.now() + timeoutMs.call;
  const wanted = choice(task);
  const attempt = async (inOrder: boolean) => {
    const files = new Map<string, FoundFile>();
    let [bytes, matches] = [0, 0];
    const reader = readLines(widthOf(before + after), (line) => {
      if (matches > most.matches || bytes > most.bytes || !wanted(line.path)) return;
      const file = files.get(line.path) ?? { ...placed(task, line.path), lines: [] };
      if (file.lines.length === 0) files.set(line.path, file);
      file.lines.push(line);
      bytes += line.text.length + 100;
      if (line.isMatch) matches++;
    });
    const isEnough = () => matches > most.matches || bytes > most.bytes;
    const order = given.sort === 'path' ? '--sort=path' : '--sortr=modified';
    const ended = await run(task, {
      argv: [...lineArguments(before, after), ...(inOrder ? [order] : [])],
      reader,
      isEnough,
      timeoutMs: Math.min(timeoutMs.search, endsAt - performance.now()),
    });
    return { files: [...files.values()], ended, reader };
  };
  const isFile = where.stat.isFile();
  const first = await attempt(isFile);
  const { files, ended, reader } = first.ended.early === 'enough' && !isFile ? await attempt(true) : first;
  const found = files.sort(byPlace).flatMap((file) => matchesIn(file, before, after));
  const more = ended.early === 'enough';
  // The last of a search that was stopped may lack what is around it.
  const matches = more ? found.slice(0, -1) : found;
  const isBinary = isFile && reader.rest.includes('binary file matches');
  return {
    matches,
    paths: matches.map(({ path, lines }) => `${path}:${lines.find(({ isMatch }) => isMatch)?.number}`),
    more,
    notes: [...(isBinary ? ['the file is binary: what matches is not shown'] : []), ...notesOf(ended)],
  };
}

/** Files that have matches, or how many lines match in each. */
export async function findHits(task: Task): Promise<FoundMatches> {
  const counted = task.given.mode === 'count';
  const wanted = choice(task);
  const files: (Place & { readonly count: number })[] = [];
  const ended = await run(task, {
    argv: [counted ? '--count' : '--files-with-matches'],
    reader: readHits(counted, (path, count) => {
      if (wanted(path)) files.push({ ...placed(task, path), count });
    }),
    isEnough: () => files.length > most.files,
    timeoutMs: timeoutMs.search,
  });
  const matches = files.sort(byPlace).map(({ path, count }) => ({ path, count, lines: [] }));
  const paths = matches.map(({ path }) => path);
  return { matches, paths, more: ended.early === 'enough', notes: notesOf(ended) };
}

const notesOf = (ended: Ended): string[] => [
  ...(ended.early === 'timed_out'
    ? [`stopped after ${timeoutMs.search / 1000} s, not all was searched: search a smaller folder`]
    : []),
  ...notesOn(ended),
];

interface Place {
  readonly path: string;
  /** Names by their bytes, one after the other: what separates names comes before every character. */
  readonly key: string;
  /** When it was last changed, where that comes first. */
  readonly modified: number;
}

interface FoundFile extends Place {
  readonly lines: Line[];
}

function placed({ given, where }: Task, path: string): Place {
  const key = path.replaceAll('/', '\0');
  if (given.sort === 'path' || where.stat.isFile()) return { path, key, modified: 0 };
  const bytes = Buffer.concat([Buffer.from(`${where.stablePath}/`), Buffer.from(path, 'latin1')]);
  // Asked without a thread in between: they are many, and ripgrep has just read them. What is gone comes last.
  return { path, key, modified: lstatSync(bytes, { throwIfNoEntry: false })?.mtimeMs ?? 0 };
}

const byPlace = (a: Place, b: Place): number =>
  b.modified - a.modified || (a.key === b.key ? 0 : a.key < b.key ? -1 : 1);

/** Each matching line of a file with the lines around it that no earlier one has. */
function matchesIn({ path, lines }: FoundFile, before: number, after: number): Match[] {
  const matches: Match[] = [];
  let from = 0;
  for (const [index, match] of lines.entries()) {
    if (!match.isMatch) continue;
    let end = index + 1;
    const belongs = (next: Line | undefined) => next && !next.isMatch && next.number <= match.number + after;
    while (belongs(lines[end])) end++;
    const group = lines.slice(from, end).filter(({ number }) => number >= match.number - before);
    matches.push({ path, count: 1, lines: group });
    from = end;
  }
  return matches;
}

/** Which of the files that ripgrep finds are wanted. */
function choice({ given, pattern, where, context }: Task): (path: string) => boolean {
  if (where.stat.isFile()) return () => true;
  const chosenByName =
    !pattern || given.glob?.startsWith('!') || (pattern.namesDecide && given.type === undefined);
  const workspace = rooted(context.workspace);
  const known = new Map<string, boolean>();
  return (printed) => {
    const isKnown = known.get(printed);
    if (isKnown !== undefined) return isKnown;
    const path = decoded(printed);
    const isWanted = (chosenByName || pattern.matches(path)) && !workspace.denies(join(where.path, path));
    // The lines of a file come one after the other.
    known.clear();
    known.set(printed, isWanted);
    return isWanted;
  };
}

interface Run {
  readonly argv: readonly string[];
  readonly reader: Reader;
  isEnough(): boolean;
  readonly timeoutMs: number;
}

function run(task: Task, { argv, reader, isEnough, timeoutMs: left }: Run): Promise<Ended> {
  const { given, pattern, where, context, services } = task;
  const isFile = where.stat.isFile();
  const hidden = given.hidden || pattern?.hidden === true;
  return search(services, {
    argv: [...argv, ...sharedArguments(task), isFile ? where.stablePath : './'],
    folder: isFile ? dirname(where.path) : where.stablePath,
    realFolder: isFile ? dirname(where.path) : where.path,
    signal: context.signal,
    timeoutMs: Math.max(1, left),
    ignoreFiles: given.ignored || isFile ? 'none' : hidden ? 'all' : 'visible',
    take(chunk) {
      reader.take(chunk);
      return !isEnough();
    },
  });
}

const lineArguments = (before: number, after: number): string[] => [
  '--line-number',
  // Where the match is, so that a long line can be shown from there.
  '--column',
  '--no-heading',
  '--no-context-separator',
  `--max-columns=${mostPrinted}`,
  '--max-columns-preview',
  // Threads keep all that they will print of a file in memory until its end.
  `--max-count=${most.matches + 1}`,
  `--before-context=${before}`,
  `--after-context=${after}`,
];

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
