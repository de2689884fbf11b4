import type { CallContext } from '../../core/tool.ts';
import type { Services } from '../services.ts';
import type { GrepParams } from './grep-params.ts';
import { decodedPath, lineIn, mostPrinted, readRecords, type Line } from './ripgrep-output.ts';
import { search } from './ripgrep.ts';
import type { Scope } from './search-scope.ts';

/** A file with matches. */
export interface FoundFile {
  /** Below the searched folder. */
  readonly path: string;
  /** Names by their bytes, one after the other: what separates names comes before every character. */
  readonly key: string;
  /** Matching lines, and those around them. */
  readonly lines: Line[];
  /** How many lines match. */
  count: number;
}

/** All that was found, in order. */
interface FoundMatches {
  readonly files: readonly FoundFile[];
  /** Whether there are more, which were left out. */
  readonly more: boolean;
  readonly notes: readonly string[];
}

/** More than anyone is shown, so that it can be said how many there are. */
const most = { matches: 10_000, bytes: 4 * 1024 * 1024, files: 100_000 };

/**
 * Matching lines, or files that have some. ripgrep is fastest when its threads print files as they come; only when
 * there are more lines than are taken it searches once more in order, with one thread, for those that come first.
 */
export async function findMatches(
  given: GrepParams,
  scope: Scope,
  context: CallContext,
  services: Services,
): Promise<FoundMatches> {
  const isFile = scope.where.stat.isFile();
  const attempt = (order: string[]) =>
    searchOnce(given, { ...scope, argv: [...order, ...scope.argv] }, context, services);
  let found = await attempt(isFile ? ['--sort=path'] : []);
  if (found.isEnough && !isFile && given.output === 'lines') found = await attempt(['--sort=path']);
  const { files, isEnough: more, notes, rest } = found;
  files.sort((a, b) => (a.key < b.key ? -1 : 1));
  const isBinary = isFile && rest.includes('binary file matches');
  return {
    files,
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
  // So that a match with all that is around it can be shown.
  const width = Math.min(500, Math.floor(12_000 / (1 + before + after)));
  const files = new Map<string, FoundFile>();
  let [bytes, matches] = [0, 0];
  const isEnough = () => matches > most.matches || bytes > most.bytes || files.size > most.files;
  const reader = readRecords((path, record) => {
    if (isEnough()) return;
    const known = files.get(path);
    if (!known && !isChosen(decodedPath(path))) return;
    const file = known ?? { path: decodedPath(path), key: path.replaceAll('/', '\0'), lines: [], count: 0 };
    files.set(path, file);
    if (output === 'count') file.count = Number(record.toString('latin1'));
    if (output !== 'lines') return;
    const line = lineIn(record, width);
    file.lines.push(line);
    bytes += line.text.length + 100;
    if (!line.isMatch) return;
    matches++;
    file.count++;
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
