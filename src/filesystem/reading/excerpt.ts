import { headOf } from '../../core/cut-text.ts';
import { ToolcribError } from '../../core/errors.ts';
import { fits, mostlyUtf8, nextLine, shownText, unknownEncoding } from '../text/encoding.ts';
import { withCommas } from '../with-commas.ts';
import type { LineIndexes } from './line-index.ts';
import { readAt, type TextFile } from './text-file.ts';

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
}

/** What finding lines needs of a call. */
export interface LineSearch {
  readonly lines: LineIndexes;
  readonly signal: AbortSignal;
}

/** A part of a text, and what to say about it. */
interface Excerpt {
  readonly text: string;
  readonly notes: readonly string[];
}

/** Characters shown of one line. */
const lineCharacters = 2000;
/** What is read for one answer; no line that is longer is looked through to its end. */
const windowBytes = 1024 * 1024;
const tailBytes = 64 * 1024;
/** What is larger is not read through for the numbers of its last lines. */
const mostCounted = 64 * 1024 * 1024;
const cutNote = `lines longer than ${withCommas(lineCharacters)} characters are cut at …`;

/** A part of a text. Throws ARG_INVALID when there is none, ENCODING for no text, and what LineIndexes.find throws. */
export async function excerptOf(
  file: TextFile,
  request: ExcerptRequest,
  search: LineSearch,
): Promise<Excerpt> {
  if (file.size <= file.encoding.mark) return { text: '', notes: ['the file is empty'] };
  return request.tail === undefined
    ? linesFrom(file, request, search)
    : lastLines(file, request.tail, request, search);
}

async function linesFrom(
  file: TextFile,
  { first, limit, room }: ExcerptRequest,
  search: LineSearch,
): Promise<Excerpt> {
  const { size, name, encoding } = file;
  const place = await search.lines.find(file, first, search.signal);
  if ('lines' in place)
    throw new ToolcribError('ARG_INVALID', `start_line: ${name} has ${place.lines} lines.`);
  const window = await readAt(file, place.start, windowBytes);
  const reachesEnd = place.start + window.length >= size;
  let [end, wanted, isWhole] = [0, 0, true];
  // A character has three bytes at most for each of its UTF-16 units, so this is always enough.
  for (let lines = 0; lines < limit && end < window.length && wanted <= 3 * room; lines++) {
    const next = nextLine(window, end, encoding);
    isWhole = next !== -1 || reachesEnd;
    // A line whose end is not in the window is only shown when it is the first.
    if (!isWhole && lines > 0) break;
    const lineEnd = next === -1 ? window.length : next;
    wanted += Math.min(lineEnd - end, 4 * lineCharacters);
    end = lineEnd;
  }
  const { lines, notes } = shownLines(window.subarray(0, end), file);
  const kept = fitting(numbered(lines, first), room);
  const last = first + kept.length - 1;
  const atEnd = kept.length === lines.length && place.start + end >= size;
  if (first === 1 && atEnd) return { text: kept.join(''), notes };
  const goesOn = !isWhole && end === window.length;
  const next = goesOn
    ? `line ${last} goes on for more than 1 MB: grep shows what matches in it`
    : `next: start_line ${last + 1}`;
  const total = await totalOf(file, search);
  const where = `${range(first, last)} of ${total === undefined ? bytesOf(size) : withCommas(total)}`;
  const isEnd = total === undefined ? 'end of file' : undefined;
  return {
    text: kept.join(''),
    notes: [where, atEnd ? isEnd : next, ...notes].filter((note) => note !== undefined),
  };
}

const range = (first: number, last: number): string =>
  first === last ? `line ${withCommas(first)}` : `lines ${withCommas(first)}–${withCommas(last)}`;

/** How many lines there are, where all of them are at hand. */
async function totalOf(
  file: TextFile,
  { lines, signal }: LineSearch,
  isWorthReading = file.head.length === file.size,
): Promise<number | undefined> {
  if (!isWorthReading) return undefined;
  const place = await lines.find(file, Infinity, signal);
  return 'lines' in place ? place.lines : undefined;
}

/** The last lines. Reads one piece at most: more is never shown. */
async function lastLines(
  file: TextFile,
  count: number,
  { room }: ExcerptRequest,
  search: LineSearch,
): Promise<Excerpt> {
  const { encoding, size } = file;
  const from = Math.max(encoding.mark, size - tailBytes);
  // In UTF-16 a character begins at even bytes.
  const start = from + (from % encoding.unit);
  const bytes = await readAt(file, start, tailBytes);
  const isWhole = start === encoding.mark;
  // The piece begins somewhere inside its first line.
  const next = isWhole ? 0 : nextLine(bytes, 0, encoding);
  if (next === -1 || next === bytes.length) {
    const end = decoded(fromCharacter(bytes.subarray(-2 * lineCharacters), encoding.label), file);
    const notes = [`the last line of ${bytesOf(size)}`, ...end.notes, cutNote];
    return { text: `…${end.text.slice(-lineCharacters)}`, notes };
  }
  const { lines: all, notes } = shownLines(bytes.subarray(next), file);
  const lines = all.slice(-count);
  const total = size > mostCounted ? undefined : await totalOf(file, search, true);
  const rows = total === undefined ? lines : numbered(lines, total - lines.length + 1);
  const kept = fitting(rows.toReversed(), room).toReversed();
  if (isWhole && kept.length === all.length) return { text: kept.join(''), notes };
  const where =
    total === undefined
      ? `the last ${kept.length} lines of ${bytesOf(size)}`
      : `${range(total - kept.length + 1, total)} of ${withCommas(total)}`;
  return { text: kept.join(''), notes: [where, ...notes] };
}

/** GB 18030 has the longest characters: four bytes. */
const halves = [0, 1, 2, 3] as const;

/** Without the rest of a character at the beginning. */
const fromCharacter = (bytes: Buffer, label: string): Buffer =>
  bytes.subarray(halves.find((at) => fits(bytes.subarray(at), label)) ?? 0);

/** The text of some bytes. Throws ENCODING when they are not what the beginning of the file was. */
function decoded(bytes: Buffer, { encoding: { label }, name }: TextFile): { text: string; notes: string[] } {
  const text = shownText(bytes, label);
  if (!text.includes('\ufffd') || fits(bytes, label)) return { text, notes: [] };
  if (label === 'utf-8' && !mostlyUtf8(bytes)) throw unknownEncoding(bytes, name);
  return { text, notes: [`bytes that are no ${label === 'utf-8' ? 'UTF-8' : label} are shown as \ufffd`] };
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

export const bytesOf = (count: number): string => `${withCommas(count)} bytes`;

/** A text with what there is to say about it in a last line. */
export function withNotes(text: string, notes: readonly string[]): string {
  if (notes.length === 0) return text;
  return `${text}${text === '' || text.endsWith('\n') ? '' : '\n'}[${notes.join('; ')}]`;
}
