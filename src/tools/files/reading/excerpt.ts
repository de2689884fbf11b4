import { isUtf8 } from 'node:buffer';
import { headOf } from '../../../core/cut-text.ts';
import { ToolcribError } from '../../../core/errors.ts';
import { isText, unknownEncoding } from '../text/encoding.ts';
import type { LineMark } from '../../../machine/known-files.ts';
import { formatBytes, formatNumber } from '../wording.ts';

/** A text in UTF-8 that can be read piece by piece. */
export interface TextFile {
  /** The name in messages. */
  readonly name: string;
  /** The size of the file when it was opened; bytes that are appended later come with the next call. */
  readonly size: number;
  /** The byte at which the text begins, behind a byte order mark. */
  readonly start: number;
  /** The positions of lines that were found so far; new ones are added. */
  readonly marks: LineMark[];
  /** The whole text is in memory. */
  readonly isWhole: boolean;
  /** Reads up to `count` bytes from a position, fewer at the end of the file; into `buffer`, if given. */
  read(position: number, count: number, buffer?: Buffer): Promise<Buffer>;
}

/** The part of a file to show, and the room for it. */
export interface ExcerptRequest {
  /** The first line, from 1. */
  readonly first: number;
  /** Lines that are shown at most. */
  readonly limit: number;
  /** The number of lines to show from the end, instead. */
  readonly tail?: number | undefined;
  /** Characters that are shown at most. */
  readonly room: number;
  readonly signal: AbortSignal;
}

/** A part of a text, and notes on it. */
interface Excerpt {
  readonly text: string;
  readonly notes: readonly string[];
}

/** Characters shown of one line. */
const lineCharacters = 2000;
const lineFeed = 10;
/** Bytes read for one answer; the end of a line that is longer is not searched. */
const windowBytes = 1024 * 1024;
const tailBytes = 64 * 1024;
/** Bytes of a file that is read through for the numbers of its last lines. */
const mostCounted = 64 * 1024 * 1024;
const cutNote = `lines longer than ${formatNumber(lineCharacters)} characters are cut at …`;

/**
 * Reads a part of a text. Throws ARG_INVALID when there is no such line, ENCODING when it is not text, and
 * CANCELLED.
 */
export async function readExcerpt(file: TextFile, request: ExcerptRequest): Promise<Excerpt> {
  if (file.size <= file.start) return { text: '', notes: ['the file is empty'] };
  return request.tail === undefined ? linesFrom(file, request) : lastLines(file, request.tail, request);
}

async function linesFrom(file: TextFile, { first, limit, room, signal }: ExcerptRequest): Promise<Excerpt> {
  const { size, name } = file;
  const { start, lines: lineCount } = await findLine(file, first, signal);
  if (start === undefined)
    throw new ToolcribError('ARG_INVALID', `start_line: ${name} has ${lineCount} lines.`);
  const window = await file.read(start, windowBytes);
  const reachesEnd = start + window.length >= size;
  let end = 0;
  for (let lines = 0; lines < limit && end < window.length; lines++) {
    const feed = window.indexOf(lineFeed, end);
    // A line whose end is not in the window is shown only when it is the first one.
    if (feed === -1 && !reachesEnd && lines > 0) break;
    end = feed === -1 ? window.length : feed + 1;
  }
  const { lines, notes } = shownLines(window.subarray(0, end), file);
  const fitting = linesThatFit(numberLines(lines, first), room);
  const last = first + fitting.length - 1;
  const atEnd = fitting.length === lines.length && start + end >= size;
  if (first === 1 && atEnd) return { text: fitting.join(''), notes };
  const next =
    reachesEnd || window[end - 1] === lineFeed
      ? `next: start_line ${last + 1}`
      : `line ${last} goes on for more than 1 MB: grep shows what matches in it`;
  const total = file.isWhole ? (await findLine(file, Infinity, signal)).lines : undefined;
  const whole = total === undefined ? formatBytes(size) : formatNumber(total);
  const shownPart = `${range(first, last)} of ${whole}`;
  const ends = total === undefined ? ['end of file'] : [];
  return { text: fitting.join(''), notes: [shownPart, ...(atEnd ? ends : [next]), ...notes] };
}

/** Finds the byte at which a line begins; without such a line, only counts the lines. Throws CANCELLED. */
async function findLine(
  { start, size, marks, isWhole, read }: TextFile,
  line: number,
  signal: AbortSignal,
): Promise<{ readonly start?: number; readonly lines: number }> {
  if (line === 1) return { start, lines: 1 };
  const buffer = isWhole ? undefined : Buffer.allocUnsafe(windowBytes);
  const from = marks.findLast((mark) => mark.line < line) ?? { line: 1, at: start };
  let feeds = from.line - 1;
  let last = lineFeed;
  for (let position = from.at; position < size;) {
    if (signal.aborted) throw new ToolcribError('CANCELLED', 'The call was cancelled.');
    const bytes = await read(position, windowBytes, buffer);
    for (let at = bytes.indexOf(lineFeed); at !== -1; at = bytes.indexOf(lineFeed, at + 1)) {
      feeds += 1;
      // A line feed at the very end of the file begins no line.
      if (feeds === line - 1 && position + at + 1 < size) return { start: position + at + 1, lines: line };
    }
    if (bytes.length === 0) break;
    last = bytes.at(-1) ?? lineFeed;
    position += bytes.length;
    if (position > (marks.at(-1)?.at ?? 0)) marks.push({ line: feeds + 1, at: position });
  }
  return { lines: feeds + (last === lineFeed ? 0 : 1) };
}

const range = (first: number, last: number): string =>
  first === last ? `line ${formatNumber(first)}` : `lines ${formatNumber(first)}–${formatNumber(last)}`;

/** Reads the last lines, from one piece at the end of the file, as more is never shown. */
async function lastLines(file: TextFile, count: number, { room, signal }: ExcerptRequest): Promise<Excerpt> {
  const { size } = file;
  const start = Math.max(file.start, size - tailBytes);
  const bytes = await file.read(start, tailBytes);
  const isWhole = start === file.start;
  // The piece begins inside a line, which is left out unless it is the only one.
  const next = isWhole ? 0 : bytes.indexOf(lineFeed) + 1;
  if (next === bytes.length || (next === 0 && !isWhole)) {
    const { text } = decodeText(bytes.subarray(-2 * lineCharacters), file);
    return {
      text: `…${text.slice(-lineCharacters)}`,
      notes: [`the last line of ${formatBytes(size)}`, cutNote],
    };
  }
  const { lines: all, notes } = shownLines(bytes.subarray(next), file);
  const lines = all.slice(-count);
  const total = size > mostCounted ? undefined : (await findLine(file, Infinity, signal)).lines;
  const rows = total === undefined ? lines : numberLines(lines, total - lines.length + 1);
  const fitting = linesThatFit(rows.toReversed(), room).toReversed();
  if (isWhole && fitting.length === all.length) return { text: fitting.join(''), notes };
  const shownPart =
    total === undefined
      ? `the last ${fitting.length} lines of ${formatBytes(size)}`
      : `${range(total - fitting.length + 1, total)} of ${formatNumber(total)}`;
  return { text: fitting.join(''), notes: [shownPart, ...notes] };
}

/** Decodes bytes as UTF-8. Throws ENCODING when they are not text, although the beginning of the file was. */
function decodeText(bytes: Buffer, { name }: TextFile): { text: string; notes: string[] } {
  const text = bytes.toString();
  if (isUtf8(bytes)) return { text, notes: [] };
  if (!isText(bytes)) throw unknownEncoding(bytes, name);
  return { text, notes: ['bytes that are no UTF-8 are shown as \ufffd'] };
}

/** The lines of a text as they are shown, with notes on long lines and broken bytes. */
function shownLines(bytes: Buffer, file: TextFile): { lines: string[]; notes: string[] } {
  const { text, notes } = decodeText(bytes, file);
  const lines = text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
  const isLong = (line: string) => line.length > lineCharacters + 2;
  if (!lines.some(isLong)) return { lines, notes };
  const cut = lines.map((line) => (isLong(line) ? `${headOf(line, lineCharacters)}…\n` : line));
  return { lines: cut, notes: [...notes, cutNote] };
}

const numberLines = (lines: readonly string[], first: number): string[] =>
  lines.map((line, index) => `${first + index}\t${line}`);

/** The lines that fit; the beginning of the first one when not even that fits. */
function linesThatFit(lines: readonly string[], room: number): readonly string[] {
  let over = 0;
  for (let length = 0; over < lines.length; over++) {
    length += (lines[over] ?? '').length;
    if (length > room) break;
  }
  if (over === lines.length) return lines;
  return over === 0 ? [`${headOf(lines[0] ?? '', Math.max(0, room - 2))}…\n`] : lines.slice(0, over);
}
