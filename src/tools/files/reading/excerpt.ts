import { isUtf8 } from 'node:buffer';
import { headOf } from '../../../core/cut-text.ts';
import { ToolcribError } from '../../../core/errors.ts';
import { isText, unknownEncoding } from '../text/encoding.ts';
import type { LineMark } from '../../../machine/known-files.ts';
import { bytesOf, withCommas } from '../wording.ts';

/** A text in UTF-8. */
export interface TextFile {
  /** What it is called in messages. */
  readonly name: string;
  /**
   * Bytes that are looked at: those it had when it was opened. What is appended meanwhile comes with the next
   * call.
   */
  readonly size: number;
  /** Where the text begins, behind a byte order mark. */
  readonly start: number;
  /** Where lines were seen before; to be added to. */
  readonly marks: LineMark[];
  /** Whether all of it is in memory. */
  readonly isWhole: boolean;
  /**
   * Up to `count` bytes from a position; fewer at the end of what is there. A buffer may be lent for them.
   */
  read(position: number, count: number, buffer?: Buffer): Promise<Buffer>;
}

/** Which part of a file is shown, and in how much room. */
export interface ExcerptRequest {
  /** The first line, from 1. */
  readonly first: number;
  /** Lines that are shown at most. */
  readonly limit: number;
  /** Only the last lines. */
  readonly tail?: number | undefined;
  /** Characters that are shown at most. */
  readonly room: number;
  readonly signal: AbortSignal;
}

interface Excerpt {
  readonly text: string;
  readonly notes: readonly string[];
}

/** Characters shown of one line. */
const lineCharacters = 2000;
const lineFeed = 10;
/** What is read for one answer; no line that is longer is looked through to its end. */
const windowBytes = 1024 * 1024;
const tailBytes = 64 * 1024;
/** What is larger is not read through for the numbers of its last lines. */
const mostCounted = 64 * 1024 * 1024;
const cutNote = `lines longer than ${withCommas(lineCharacters)} characters are cut at …`;

/** A part of a text. Throws ARG_INVALID when there is none, ENCODING for no text, and CANCELLED. */
export async function excerptOf(file: TextFile, request: ExcerptRequest): Promise<Excerpt> {
  if (file.size <= file.start) return { text: '', notes: ['the file is empty'] };
  return request.tail === undefined ? linesFrom(file, request) : lastLines(file, request.tail, request);
}

async function linesFrom(file: TextFile, { first, limit, room, signal }: ExcerptRequest): Promise<Excerpt> {
  const { size, name } = file;
  const place = await findLine(file, first, signal);
  if (place.start === undefined)
    throw new ToolcribError('ARG_INVALID', `start_line: ${name} has ${place.lines} lines.`);
  const window = await file.read(place.start, windowBytes);
  const reachesEnd = place.start + window.length >= size;
  let end = 0;
  for (let lines = 0; lines < limit && end < window.length; lines++) {
    const feed = window.indexOf(lineFeed, end);
    // A line whose end is not in the window is only shown when it is the first.
    if (feed === -1 && !reachesEnd && lines > 0) break;
    end = feed === -1 ? window.length : feed + 1;
  }
  const { lines, notes } = shownLines(window.subarray(0, end), file);
  const kept = fitting(numbered(lines, first), room);
  const last = first + kept.length - 1;
  const atEnd = kept.length === lines.length && place.start + end >= size;
  if (first === 1 && atEnd) return { text: kept.join(''), notes };
  const next =
    reachesEnd || window[end - 1] === lineFeed
      ? `next: start_line ${last + 1}`
      : `line ${last} goes on for more than 1 MB: grep shows what matches in it`;
  const total = file.isWhole ? (await findLine(file, Infinity, signal)).lines : undefined;
  const where = `${range(first, last)} of ${total === undefined ? bytesOf(size) : withCommas(total)}`;
  const ends = total === undefined ? ['end of file'] : [];
  return { text: kept.join(''), notes: [where, ...(atEnd ? ends : [next]), ...notes] };
}

/** The byte where a line begins; how many lines there are, where there are fewer. Throws CANCELLED. */
async function findLine(
  { start, size, marks, isWhole, read }: TextFile,
  line: number,
  signal: AbortSignal,
): Promise<{ readonly start?: number; readonly lines: number }> {
  if (line === 1) return { start, lines: 1 };
  const buffer = isWhole ? undefined : Buffer.allocUnsafe(windowBytes);
  const from = marks.findLast((mark) => mark.line < line) ?? { line: 1, at: start };
  let [feeds, last] = [from.line - 1, lineFeed];
  for (let position = from.at; position < size;) {
    if (signal.aborted) throw new ToolcribError('CANCELLED', 'The call was cancelled.');
    const bytes = await read(position, windowBytes, buffer);
    for (let at = bytes.indexOf(lineFeed); at !== -1; at = bytes.indexOf(lineFeed, at + 1))
      // A line feed at the very end begins no other line.
      if (++feeds === line - 1 && position + at + 1 < size) return { start: position + at + 1, lines: line };
    if (bytes.length === 0) break;
    last = bytes.at(-1) ?? lineFeed;
    position += bytes.length;
    if (position > (marks.at(-1)?.at ?? 0)) marks.push({ line: feeds + 1, at: position });
  }
  return { lines: feeds + (last === lineFeed ? 0 : 1) };
}

const range = (first: number, last: number): string =>
  first === last ? `line ${withCommas(first)}` : `lines ${withCommas(first)}–${withCommas(last)}`;

/** The last lines. Reads one piece at most: more is never shown. */
async function lastLines(file: TextFile, count: number, { room, signal }: ExcerptRequest): Promise<Excerpt> {
  const { size } = file;
  const start = Math.max(file.start, size - tailBytes);
  const bytes = await file.read(start, tailBytes);
  const isWhole = start === file.start;
  // The piece begins somewhere inside its first line, which may be all of it.
  const next = isWhole ? 0 : bytes.indexOf(lineFeed) + 1;
  if (next === bytes.length || (next === 0 && !isWhole)) {
    const { text } = decoded(bytes.subarray(-2 * lineCharacters), file);
    return { text: `…${text.slice(-lineCharacters)}`, notes: [`the last line of ${bytesOf(size)}`, cutNote] };
  }
  const { lines: all, notes } = shownLines(bytes.subarray(next), file);
  const lines = all.slice(-count);
  const total = size > mostCounted ? undefined : (await findLine(file, Infinity, signal)).lines;
  const rows = total === undefined ? lines : numbered(lines, total - lines.length + 1);
  const kept = fitting(rows.toReversed(), room).toReversed();
  if (isWhole && kept.length === all.length) return { text: kept.join(''), notes };
  const where =
    total === undefined
      ? `the last ${kept.length} lines of ${bytesOf(size)}`
      : `${range(total - kept.length + 1, total)} of ${withCommas(total)}`;
  return { text: kept.join(''), notes: [where, ...notes] };
}

/** The text of some bytes. Throws ENCODING when they are not what the beginning of the file was. */
function decoded(bytes: Buffer, { name }: TextFile): { text: string; notes: string[] } {
  const text = bytes.toString();
  if (isUtf8(bytes)) return { text, notes: [] };
  if (!isText(bytes)) throw unknownEncoding(bytes, name);
  return { text, notes: ['bytes that are no UTF-8 are shown as \ufffd'] };
}

/** Lines as they are shown, and what to say about them. */
function shownLines(bytes: Buffer, file: TextFile): { lines: string[]; notes: string[] } {
  const { text, notes } = decoded(bytes, file);
  const lines = text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
  const isLong = (line: string) => line.length > lineCharacters + 2;
  if (!lines.some(isLong)) return { lines, notes };
  const cut = lines.map((line) => (isLong(line) ? `${headOf(line, lineCharacters)}…\n` : line));
  return { lines: cut, notes: [...notes, cutNote] };
}

const numbered = (lines: string[], first: number): string[] =>
  lines.map((line, index) => `${first + index}\t${line}`);

/** As many lines as fit; of one that does not fit even alone, its beginning. */
function fitting(lines: string[], room: number): string[] {
  let length = 0;
  const over = lines.findIndex((line) => (length += line.length) > room);
  if (over === -1) return lines;
  return over === 0 ? [`${headOf(lines[0] ?? '', Math.max(0, room - 2))}…\n`] : lines.slice(0, over);
}
