import { headOf, tailOf } from '../../../core/cut-text.ts';
import { decode } from '../../../machine/decode.ts';
import type { ToolPlanContext } from '../../define-tool.ts';
import { printedPath, search } from './ripgrep.ts';
import type { SearchRequest, SearchScope } from './search-request.ts';

/** A line of a file as it is shown. */
interface FileLine {
  readonly number: number;
  readonly isMatch: boolean;
  readonly text: string;
}

/** A file with matches. */
export interface FoundFile {
  /** The path below the searched folder. */
  readonly path: string;
  /** The key to sort by: the bytes of the path, with a separator that comes before every character. */
  readonly key: string;
  /** The matching lines, and those around them. */
  readonly lines: FileLine[];
  /** The number of matching lines. */
  count: number;
}

/** The files with matches, in order. */
interface Matches {
  readonly files: readonly FoundFile[];
  /** There are further matches, which were not read. */
  readonly more: boolean;
  readonly notes: readonly string[];
}

/** Limits of a search; they are above those of an answer, so that it can say how many matches there are. */
const most = { matches: 10_000, bytes: 4 * 1024 * 1024, files: 100_000 };
/** Bytes of a line that ripgrep prints at most; minified files have lines of some megabytes. */
const mostPrinted = 4 * 1024 * 1024;
/** Bytes shown before a match far into a line. */
const shownBefore = 150;

/**
 * Finds matching lines, or files that have some. ripgrep is fastest when its threads print files as they
 * come. Only when there are more lines than the limit, it searches again in order, with one thread, for the
 * first ones.
 */
export async function findMatches(
  request: SearchRequest,
  scope: SearchScope,
  context: ToolPlanContext,
): Promise<Matches> {
  const isFile = scope.target.stat.isFile();
  const attempt = (order: string[]) =>
    searchOnce(request, { ...scope, argv: [...order, ...scope.argv] }, context);
  let outcome = await attempt([]);
  if (outcome.isEnough && !isFile && request.output === 'lines') outcome = await attempt(['--sort=path']);
  const { files, isEnough: more, notes, rest } = outcome;
  files.sort((a, b) => (a.key < b.key ? -1 : 1));
  const isBinary = isFile && rest.includes('binary file matches');
  const binary = isBinary ? ['the file is binary: what matches is not shown'] : [];
  return { files, more, notes: [...binary, ...notes] };
}

async function searchOnce(
  { output, before, after, ignored }: SearchRequest,
  { target, argv, isChosen }: SearchScope,
  { signal, session }: ToolPlanContext,
) {
  // Short enough that a match can be shown with all lines around it.
  const width = Math.min(500, Math.floor(12_000 / (1 + before + after)));
  const files = new Map<string, FoundFile>();
  let [bytes, matches] = [0, 0];
  const isEnough = () => matches > most.matches || bytes > most.bytes || files.size > most.files;
  const reader = new RecordReader((raw, record) => {
    if (isEnough()) return;
    const path = decode(Buffer.from(raw, 'latin1'));
    const existing = files.get(raw);
    if (!existing && !isChosen(path)) return;
    const file = existing ?? { path, key: raw.replaceAll('/', '\0'), lines: [], count: 0 };
    files.set(raw, file);
    if (output !== 'lines') {
      file.count = Number(record.toString('latin1'));
      return;
    }
    const line = parseLine(record, width);
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
  const modeArguments = output === 'lines' ? lineArguments(before, after) : mode;
  const options = { argv: [...modeArguments, ...argv], target, ignored, signal, take };
  const outcome = await search(session, options);
  return { ...outcome, files: [...files.values()], rest: reader.rest() };
}

/**
 * Arguments to print lines. `--json` is not used, as it prints even the longest line whole, with every match.
 */
const lineArguments = (before: number, after: number): string[] => [
  '--line-number',
  // The column of the match, so that a long line can be shown from there.
  '--column',
  '--no-heading',
  '--no-context-separator',
  `--max-columns=${mostPrinted}`,
  '--max-columns-preview',
  // A thread keeps everything that it prints of a file in memory until the end of the file.
  `--max-count=${most.matches + 1}`,
  `--before-context=${before}`,
  `--after-context=${after}`,
];

/**
 * Parses `LINE:COLUMN:TEXT` for a match, or `LINE-TEXT` for a line around one; keeps `width` bytes of the
 * text.
 */
function parseLine(record: Buffer, width: number): FileLine {
  const start = record.toString('latin1', 0, 50);
  const [mark = '', number, sign, column = '1'] = /^(\d+)(?:(:)(\d+):|-)/.exec(start) ?? [];
  const text = record.subarray(mark.length, record.at(-1) === 0x0d ? -1 : record.length);
  // Some files have lone carriage returns in their lines.
  const shown = excerptOf(text, Number(column) - 1, width).replaceAll('\r', '\u240d');
  return { number: Number(number), isMatch: sign === ':', text: shown };
}

/** A line, or `width` bytes of it around `match`; in UTF-8, these are whole characters. */
function excerptOf(line: Buffer, match: number, width: number): string {
  if (line.length <= width) return decode(line);
  // A match beyond the part that ripgrep prints is not in the line.
  const middle = match >= mostPrinted ? 0 : match;
  const start = Math.min(Math.max(0, middle - shownBefore), line.length - width);
  const end = start + width;
  // The cut may leave up to three bytes of a character without the others.
  const before = line.toString('utf8', start, middle).replace(/^\ufffd{1,3}/, '');
  const after = line.toString('utf8', middle, end).replace(/\ufffd$/, '');
  return (
    (start > 0 ? `…${tailOf(`.${before}`, before.length)}` : before) +
    (end < line.length ? `${headOf(`${after}.`, after.length)}…` : after)
  );
}

/** Remarks that ripgrep prints between records about a file that turned out to be binary after a match. */
const binaryRemarks = new RegExp(
  String.raw`^(?:[^\n\0]*: (?:WARNING: stopped searching binary file after match|binary file matches) ` +
    String.raw`\(found [^\n\0]*\)\n)+`,
);

/**
 * Splits the output of ripgrep, which comes in pieces of any size, into records: a path up to a NUL, and a
 * text up to a line feed. The path has one character for each byte, as files are sorted by bytes.
 */
class RecordReader {
  readonly #onRecord: (path: string, text: Buffer) => void;
  #waiting: Buffer[] = [];

  constructor(onRecord: (path: string, text: Buffer) => void) {
    this.#onRecord = onRecord;
  }

  take(chunk: Buffer): void {
    this.#waiting.push(chunk);
    // Joined only at the end of a line: joining each piece of a long line takes time in the square of its
    // length.
    if (!chunk.includes(0x0a)) return;
    const bytes = this.#waiting.length === 1 ? chunk : Buffer.concat(this.#waiting);
    let at = 0;
    for (;;) {
      const pathEnd = bytes.indexOf(0, at);
      const end = pathEnd === -1 ? -1 : bytes.indexOf(0x0a, pathEnd + 1);
      if (end === -1) break;
      const path = bytes.toString('latin1', at, pathEnd);
      this.#onRecord(printedPath(path.replace(binaryRemarks, '')), bytes.subarray(pathEnd + 1, end));
      at = end + 1;
    }
    this.#waiting = at < bytes.length ? [bytes.subarray(at)] : [];
  }

  /** The output behind the last record: nothing, or a remark of ripgrep. */
  rest(): string {
    return Buffer.concat(this.#waiting).toString('latin1', 0, 1000);
  }
}
