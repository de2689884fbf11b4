import type { CallContext } from '../../core/tool.ts';
import type { Opened } from '../../machine/paths/opened.ts';
import { rooted } from '../../machine/paths/workspace.ts';
import type { GlobPattern } from '../listing/glob-pattern.ts';
import type { Services } from '../services.ts';
import type { GrepParams } from './grep-params.ts';
import { decodedPath, lineIn, mostPrinted, readRecords, type Line } from './ripgrep-output.ts';
import { search } from './ripgrep.ts';
import { choiceOf, searchArguments } from './search-scope.ts';

/** What one call looks for, and where. */
export interface GrepSearch {
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
  readonly items: readonly Match[];
  /** Whether there are more, which were left out. */
  readonly more: boolean;
  readonly notes: readonly string[];
}

/** More than anyone pages through; what is kept of a search is a few megabytes. */
const most = { matches: 10_000, bytes: 4 * 1024 * 1024, files: 100_000 };
/** So that a match with all that is around it fits into a page. */
const widthOf = (lines: number): number => Math.min(500, Math.floor(12_000 / (1 + lines)));

interface FoundFile {
  readonly path: string;
  /** Names by their bytes, one after the other: what separates names comes before every character. */
  readonly key: string;
  readonly lines: Line[];
  count: number;
}

/**
 * Matching lines, or files that have some. ripgrep is fastest when its threads print files as they come; only when
 * there are more lines than are kept it searches once more in order, with one thread, for those that come first.
 */
export async function findMatches(request: GrepSearch): Promise<FoundMatches> {
  const { given, where } = request;
  const [isFile, inLines] = [where.stat.isFile(), given.output === 'lines'];
  const first = await attempt(request, isFile);
  const isAgain = inLines && first.isEnough && !isFile;
  const { files, isEnough: more, notes, rest } = isAgain ? await attempt(request, true) : first;
  files.sort((a, b) => (a.key < b.key ? -1 : 1));
  const all: Match[] = inLines ? files.flatMap((file) => matchesIn(file, given)) : files;
  const isBinary = isFile && rest.includes('binary file matches');
  return {
    // The last of a search that was stopped may lack what is around it.
    items: more && inLines ? all.slice(0, -1) : all,
    more,
    notes: [...(isBinary ? ['the file is binary: what matches is not shown'] : []), ...notes],
  };
}

/** One run of ripgrep, in the order that is asked for or in that of its threads. */
async function attempt({ given, pattern, where, context, services }: GrepSearch, inOrder: boolean) {
  const width = widthOf(given.before + given.after);
  const isChosen = choiceOf(given, pattern, where, rooted(context.workspace));
  const files = new Map<string, FoundFile>();
  let [bytes, matches] = [0, 0];
  const isEnough = () => matches > most.matches || bytes > most.bytes || files.size > most.files;
  const reader = readRecords((path, record) => {
    if (isEnough()) return;
    const known = files.get(path);
    if (!known && !isChosen(decodedPath(path))) return;
    const file = known ?? { path: decodedPath(path), key: path.replaceAll('/', '\0'), lines: [], count: 1 };
    files.set(path, file);
    if (given.output === 'count') file.count = Number(record.toString('latin1'));
    if (given.output !== 'lines') return;
    const line = lineIn(record, width);
    file.lines.push(line);
    bytes += line.text.length + 100;
    if (line.isMatch) matches++;
  }, given.output !== 'files');
  const ended = await search(services, {
    argv: [...modeArguments(given), ...(inOrder ? ['--sort=path'] : []), ...searchArguments(given, pattern)],
    where,
    ignored: given.ignored,
    signal: context.signal,
    take(chunk) {
      reader.take(chunk);
      return !isEnough();
    },
  });
  return { ...ended, files: [...files.values()], rest: reader.rest() };
}

/** Each matching line of a file with the lines around it that no earlier one has. */
function matchesIn({ path, lines }: FoundFile, { before, after }: GrepParams): Match[] {
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

function modeArguments({ output, before, after }: GrepParams): string[] {
  if (output !== 'lines') return [output === 'count' ? '--count' : '--files-with-matches'];
  return [
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
}
