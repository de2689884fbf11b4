import { headOf, tailOf } from '../../../core/cut-text.ts';
import type { CallContext } from '../../../core/tool.ts';
import { decode } from '../../../machine/decode.ts';
import type { Session } from '../../../machine/session.ts';
import { printedPath, search } from './ripgrep.ts';
import type { GrepParams, SearchScope } from './search-request.ts';

/** A line of a file, as it is shown. */
interface FileLine {
  readonly number: number;
  readonly isMatch: boolean;
  readonly text: string;
}

/** A file with matches. */
export interface FoundFile {
  /** Below the searched folder. */
  readonly path: string;
  /** Names by their bytes, one after the other: what separates names comes before every character. */
  readonly key: string;
  /** Matching lines, and those around them. */
  readonly lines: FileLine[];
  /** How many lines match. */
  count: number;
}

/** All that was found, in order. */
interface Matches {
  readonly files: readonly FoundFile[];
  /** Whether there are more, which were left out. */
  readonly more: boolean;
  readonly notes: readonly string[];
}

/** More than anyone is shown, so that it can be said how many there are. */
const most = { matches: 10_000, bytes: 4 * 1024 * 1024, files: 100_000 };
/** Bytes of a line that ripgrep prints at most. Minified files have lines of some megabytes. */
const mostPrinted = 4 * 1024 * 1024;
/** Bytes shown before a match far into a line. */
const shownBefore = 150;

/**
 * Matching lines, or files that have some. ripgrep is fastest when its threads print files as they come; only
 * when there are more lines than are taken it searches once more in order, with one thread, for those that
 * come first.
 */
export async function findMatches(
  given: GrepParams,
  scope: SearchScope,
  context: CallContext,
  session: Session,
): Promise<Matches> {
  const isFile = scope.where.stat.isFile();
  const attempt = (order: string[]) =>
    searchOnce(given, { ...scope, argv: [...order, ...scope.argv] }, context, session);
  let found = await attempt([]);
  if (found.isEnough && !isFile && given.output === 'lines') found = await attempt(['--sort=path']);
  const { files, isEnough: more, notes, rest } = found;
  files.sort((a, b) => (a.key < b.key ? -1 : 1));
  const isBinary = isFile && rest.includes('binary file matches');
  const binary = isBinary ? ['the file is binary: what matches is not shown'] : [];
  return { files, more, notes: [...binary, ...notes] };
}

async function searchOnce(
  { output, before, after, ignored }: GrepParams,
  { where, argv, isChosen }: SearchScope,
  { signal }: CallContext,
  session: Session,
) {
  // So that a match with all that is around it can be shown.
  const width = Math.min(500, Math.floor(12_000 / (1 + before + after)));
  const files = new Map<string, FoundFile>();
  let [bytes, matches] = [0, 0];
  const isEnough = () => matches > most.matches || bytes > most.bytes || files.size > most.files;
  const reader = readRecords((raw, record) => {
    if (isEnough()) return;
    const path = decode(Buffer.from(raw, 'latin1'));
    const known = files.get(raw);
    if (!known && !isChosen(path)) return;
    const file = known ?? { path, key: raw.replaceAll('/', '\0'), lines: [], count: 0 };
    files.set(raw, file);
    if (output !== 'lines') return void (file.count = Number(record.toString('latin1')));
    const line = lineIn(record, width);
    file.lines.push(line);
    bytes += line.text.length + 100;
    if (!line.isMatch) return;
    matches++;
    file.count++;
  });
  const take = (chunk: Buffer) => {
    reader.take(chunk);
    return !isEnough();
  };
  const mode = output === 'count' ? ['--count'] : ['--count', '--max-count=1'];
  const told = [...(output === 'lines' ? lineArguments(before, after) : mode), ...argv];
  const ended = await search(session, { argv: told, where, ignored, signal, take });
  return { ...ended, files: [...files.values()], rest: reader.rest() };
}

/** Not `--json`: that prints the longest line whole, with every match in it. */
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

/**
 * A line in the form `line : column : text`, or `line - text` around a match; of long ones `width` bytes are
 * kept.
 */
function lineIn(record: Buffer, width: number): FileLine {
  const start = record.toString('latin1', 0, 50);
  const [mark = '', number, sign, column = '1'] = /^(\d+)(?:(:)(\d+):|-)/.exec(start) ?? [];
  const text = record.subarray(mark.length, record.at(-1) === 0x0d ? -1 : record.length);
  // Some files have lone carriage returns in their lines.
  const shown = shownPart(text, Number(column) - 1, width).replaceAll('\r', '\u240d');
  return { number: Number(number), isMatch: sign === ':', text: shown };
}

/** A line, or `width` bytes of it from around `match`, whole characters where it is UTF-8. */
function shownPart(line: Buffer, match: number, width: number): string {
  if (line.length <= width) return decode(line);
  // What is farther than ripgrep prints of a line is not there.
  const middle = match >= mostPrinted ? 0 : match;
  const start = Math.min(Math.max(0, middle - shownBefore), line.length - width);
  const end = start + width;
  // Up to three bytes of a character whose others are not there.
  const before = line.toString('utf8', start, middle).replace(/^\ufffd{1,3}/, '');
  const after = line.toString('utf8', middle, end).replace(/\ufffd$/, '');
  return (
    (start > 0 ? `…${tailOf(`.${before}`, before.length)}` : before) +
    (end < line.length ? `${headOf(`${after}.`, after.length)}…` : after)
  );
}

/** What ripgrep prints, between records, about a file that turned out to be binary after a match. */
const binaryRemarks =
  /^(?:[^\n\0]*: (?:WARNING: stopped searching binary file after match|binary file matches) \(found [^\n\0]*\)\n)+/;

/**
 * Takes output in pieces of any size, and hands on of each record the path, a character for each byte, by
 * which paths are put in order, up to a NUL, and what follows it up to a line feed. `rest` is what is left in
 * the end: nothing, or a remark of ripgrep's.
 */
function readRecords(take: (path: string, record: Buffer) => void) {
  let waiting: Buffer[] = [];
  return {
    take(chunk: Buffer): void {
      waiting.push(chunk);
      // Not joined for each piece of a long line: that would take time in the square of its length.
      if (!chunk.includes(0x0a)) return;
      const bytes = waiting.length === 1 ? chunk : Buffer.concat(waiting);
      let at = 0;
      for (;;) {
        const pathEnd = bytes.indexOf(0, at);
        const end = pathEnd === -1 ? -1 : bytes.indexOf(0x0a, pathEnd + 1);
        if (end === -1) break;
        const path = bytes.toString('latin1', at, pathEnd);
        take(printedPath(path.replace(binaryRemarks, '')), bytes.subarray(pathEnd + 1, end));
        at = end + 1;
      }
      waiting = at < bytes.length ? [bytes.subarray(at)] : [];
    },
    rest: (): string => Buffer.concat(waiting).toString('latin1', 0, 1000),
  };
}
