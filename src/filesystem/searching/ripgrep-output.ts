import { headOf, tailOf } from '../../core/cut-text.ts';
import { decode } from '../../machine/decode.ts';
import { printedPath } from './search-scope.ts';

/** A line of a file, as ripgrep printed it. All text here has a character for each byte. */
export interface Line {
  /** The file, below the searched folder. */
  readonly path: string;
  readonly number: number;
  readonly isMatch: boolean;
  readonly text: string;
  /** Whether text was left out before and after. */
  readonly cut: { readonly before: boolean; readonly after: boolean };
  /** Where a match begins that is too far from the beginning of the line to be shown, in bytes. */
  readonly farAt?: number;
}

/** A file with matches. */
export interface Hit {
  readonly path: string;
  /** Lines that match; 1 when they were not counted. */
  readonly count: number;
}

/** Takes ripgrep's output in pieces of any size. */
export interface Reader {
  take(chunk: Buffer): void;
  /** What is left when all output was taken: nothing, or a remark of ripgrep's. */
  readonly rest: string;
}

/** What the bytes of a text mean. Making a decoder takes longer than all else that is done with a line. */
export const decoded = (text: string): string =>
  /[\u0080-\u00ff]/.test(text) ? decode(Buffer.from(text, 'latin1')) : text;

/** Bytes of a line that ripgrep prints at most. Minified files have lines of some megabytes. */
export const mostPrinted = 4 * 1024 * 1024;
/** Bytes shown before a match far into a line. */
const shownBefore = 150;

const nul = 0x00;
const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const colon = 0x3a;

/**
 * Reads lines in the form `path NUL line : column : text LF`, or `path NUL line - text LF` around a match. A path may
 * hold line feeds. Of long lines `width` bytes are kept, from around the match.
 */
export function readLines(width: number, found: (line: Line) => void): Reader {
  return readRecords((bytes, from) => {
    const pathEnd = bytes.indexOf(nul, from);
    const end = pathEnd < 0 ? -1 : bytes.indexOf(lineFeed, pathEnd + 1);
    if (end < 0) return -1;
    const line = numberAt(bytes, pathEnd + 1);
    const isMatch = bytes[line.end] === colon;
    const column = isMatch ? numberAt(bytes, line.end + 1) : undefined;
    const start = (column ?? line).end + 1;
    const length = (bytes[end - 1] === carriageReturn ? end - 1 : end) - start;
    const path = pathIn(bytes, from, pathEnd);
    found({
      path,
      number: line.value,
      isMatch,
      ...partOf(bytes.subarray(start, start + Math.max(0, length)), (column?.value ?? 1) - 1, width),
    });
    return end + 1;
  });
}

/** Reads names of files in the form `path NUL`, or `path NUL count LF`. */
export function readHits(counted: boolean, found: (hit: Hit) => void): Reader {
  return readRecords(
    (bytes, from) => {
      const pathEnd = bytes.indexOf(nul, from);
      const end = pathEnd < 0 ? -1 : counted ? bytes.indexOf(lineFeed, pathEnd + 1) : pathEnd;
      if (end < 0) return -1;
      found({
        path: pathIn(bytes, from, pathEnd),
        count: counted ? numberAt(bytes, pathEnd + 1).value : 1,
      });
      return end + 1;
    },
    counted ? lineFeed : nul,
  );
}

/** `next` reads the record that begins at `from` and returns where the one after it does, or -1 when it is not whole. */
function readRecords(next: (bytes: Buffer, from: number) => number, last = lineFeed): Reader {
  let waiting: Buffer[] = [];
  return {
    take(chunk) {
      waiting.push(chunk);
      // Not joined for each piece of a long line: that would take time in the square of its length.
      if (!chunk.includes(last)) return;
      const bytes = waiting.length === 1 ? chunk : Buffer.concat(waiting);
      let at = 0;
      for (let end = next(bytes, at); end >= 0; end = at < bytes.length ? next(bytes, at) : -1) at = end;
      waiting = at < bytes.length ? [bytes.subarray(at)] : [];
    },
    get rest() {
      return Buffer.concat(waiting).toString('latin1', 0, 1000);
    },
  };
}

/** What ripgrep prints, between records, about a file that turned out to be binary after a match. */
const binaryRemarks =
  /^(?:[^\n\0]*: (?:WARNING: stopped searching binary file after match|binary file matches) \(found [^\n\0]*\)\n)+/;

function pathIn(bytes: Buffer, from: number, end: number): string {
  const printed = bytes.toString('latin1', from, end);
  return printedPath(printed.includes('\n') ? printed.replace(binaryRemarks, '') : printed);
}

function numberAt(bytes: Buffer, from: number): { value: number; end: number } {
  let value = 0;
  let end = from;
  for (let digit = bytes[end] ?? 0; digit >= 0x30 && digit <= 0x39; digit = bytes[++end] ?? 0)
    value = value * 10 + digit - 0x30;
  return { value, end };
}

/** A line, or `width` bytes of it from around `match`, whole characters where it is UTF-8. */
function partOf(line: Buffer, match: number, width: number): Pick<Line, 'text' | 'cut' | 'farAt'> {
  if (line.length <= width) return { text: line.toString('latin1'), cut: { before: false, after: false } };
  const isFar = match >= mostPrinted;
  const wanted = isFar ? 0 : Math.min(Math.max(0, match - shownBefore), line.length - width);
  const start = characterAt(line, wanted);
  const end = characterAt(line, wanted + width);
  const before = line.toString('latin1', start, isFar ? start : match);
  const after = line.toString('latin1', isFar ? start : match, end);
  return {
    text:
      (start > 0 ? tailOf(`.${before}`, before.length) : before) +
      (end < line.length ? headOf(`${after}.`, after.length) : after),
    cut: { before: start > 0, after: end < line.length },
    ...(isFar ? { farAt: match } : {}),
  };
}

/** Where the UTF-8 character that a byte belongs to begins: at most three bytes before it. */
function characterAt(bytes: Buffer, at: number): number {
  let start = at;
  while (start > at - 3 && start > 0 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start--;
  return ((bytes[start] ?? 0) & 0xc0) === 0x80 ? at : start;
}
