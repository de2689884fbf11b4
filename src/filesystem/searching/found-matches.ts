import type { CallContext } from '../../core/tool.ts';
import type { Services } from '../services.ts';
import type { GrepParams } from './grep-params.ts';
import { decodedPath, lineIn, mostPrinted, readRecords, type Line } from './ripgrep-output.ts';
import { search } from './ripgrep.ts';
import type { Scope } from './search-scope.ts';

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

interface FoundFile {
  readonly path: string;
  /** Names by their bytes, one after the other: what separates names comes before every character. */
  readonly key: string;
  readonly lines: Line[];
  count: number;
}

/** More than anyone pages through; what is kept of a search is a few megabytes. */
const most = { matches: 10_000, bytes: 4 * 1024 * 1024, files: 100_000 };

/**
 * Matching lines, or files that have some. ripgrep is fastest when its threads print files as they come; only when
 * there are more lines than are kept it searches once more in order, with one thread, for those that come first.
 */
export async function findMatches(
  given: GrepParams,
  scope: Scope,
  context: CallContext,
  services: Services,
): Promise<FoundMatches> {
  const isFile = scope.where.stat.isFile();
  const inLines = given.output === 'lines';
  const attempt = (order: string[]) =>
    searchOnce(given, { ...scope, argv: [...order, ...scope.argv] }, context, services);
  let found = await attempt(isFile ? ['--sort=path'] : []);
  if (inLines && found.isEnough && !isFile) found = await attempt(['--sort=path']);
  const { files, isEnough: more, notes, rest } = found;
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

async function searchOnce(
  { output, before, after, ignored }: GrepParams,
  { where, argv, isChosen }: Scope,
  { signal }: CallContext,
  services: Services,
) {
  // So that a match with all that is around it fits into a page.
  const width = Math.min(500, Math.floor(12_000 / (1 + before + after)));
  const files = new Map<string, FoundFile>();
  let [bytes, matches] = [0, 0];
  const isEnough = () => matches > most.matches || bytes > most.bytes || files.size > most.files;
  const reader = readRecords((path, record) => {
    if (isEnough()) return;
    const known = files.get(path);
    if (!known && !isChosen(decodedPath(path))) return;
    const file = known ?? { path: decodedPath(path), key: path.replaceAll('/', '\0'), lines: [], count: 1 };
    files.set(path, file);
    if (output === 'count') file.count = Number(record.toString('latin1'));
    if (output !== 'lines') return;
    const line = lineIn(record, width);
    file.lines.push(line);
    bytes += line.text.length + 100;
    if (line.isMatch) matches++;
  }, output !== 'files');
  const take = (chunk: Buffer) => {
    reader.take(chunk);
    return !isEnough();
  };
  const mode = output === 'count' ? ['--count'] : ['--files-with-matches'];
  const told = [...(output === 'lines' ? lineArguments(before, after) : mode), ...argv];
  const ended = await search(services, { argv: told, where, ignored, signal, take });
  return { ...ended, files: [...files.values()], rest: reader.rest() };
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
