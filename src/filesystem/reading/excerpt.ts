import { headOf } from '../../core/cut-text.ts';
import { ToolcribError } from '../../core/errors.ts';
import { fits, mostlyUtf8, nextLine, shownText, unknownEncoding } from '../text/encoding.ts';
import { withCommas } from '../with-commas.ts';
import type { LineIndexes } from './line-index.ts';
import { readAt, type TextFile } from './text-file.ts';

/** Which lines, and how they are shown. */
export interface LineRequest {
  readonly limit: number;
  readonly line_numbers: boolean;
  /** More characters than that will not be shown. */
  readonly most: number;
}

/** What finding lines needs of a call. */
export interface LineSearch {
  readonly lines: LineIndexes;
  readonly signal: AbortSignal;
}

/** A part of a text that can be shown in more or less room. */
export interface Excerpt {
  /** Characters of all of it. */
  readonly length: number;
  /** As much of it as has `room`, and what to say about it. */
  fit(room: number): { readonly text: string; readonly notes: readonly string[] };
}

/** Characters shown of one line. */
const lineCharacters = 2000;
/** What is read for one answer; no line that is longer is looked through to its end. */
const windowBytes = 1024 * 1024;
const tailBytes = 64 * 1024;
const cutNote = `lines longer than ${withCommas(lineCharacters)} characters are cut at …`;

/** Lines from one on. Throws ARG_INVALID when there is none, and what LineIndexes.find throws. */
export async function linesFrom(
  file: TextFile,
  first: number,
  { limit, line_numbers, most }: LineRequest,
  search: LineSearch,
): Promise<Excerpt> {
  const { size, name, encoding } = file;
  const place = await search.lines.find(file, first, search.signal);
  if ('lines' in place) throw new ToolcribError('ARG_INVALID', `offset: ${name} has ${place.lines} lines.`);
  const window = await readAt(file, place.start, windowBytes);
  const reachesEnd = place.start + window.length >= size;
  let [end, kept, isWhole] = [0, 0, true];
  // A character has three bytes at most for each of its UTF-16 units, so this is always enough.
  for (let lines = 0; lines < limit && end < window.length && kept <= 3 * most; lines++) {
    const next = nextLine(window, end, encoding);
    isWhole = next !== -1 || reachesEnd;
    // A line whose end is not in the window is only shown when it is the first.
    if (!isWhole && lines > 0) break;
    const lineEnd = next === -1 ? window.length : next;
    kept += Math.min(lineEnd - end, 4 * lineCharacters);
    end = lineEnd;
  }
  const { lines, said } = shownLines(window.subarray(0, end), file);
  return excerptOf(lines, said, line_numbers ? first : undefined, {
    notes(kept) {
      const last = first + kept - 1;
      const atEnd = kept === lines.length && place.start + end >= size;
      if (first === 1 && atEnd) return [];
      const goesOn = !isWhole && end === window.length;
      const next = goesOn
        ? `line ${last} goes on for more than 1 MB: read it with bytes`
        : `next: offset ${last + 1}`;
      return [`lines ${first}-${last} of ${bytesOf(size)}`, atEnd ? 'end of file' : next];
    },
  });
}

/** The last lines. Reads one piece at most: more is never shown. Throws what LineIndexes.find throws. */
export async function lastLines(
  file: TextFile,
  count: number,
  { line_numbers }: LineRequest,
  search: LineSearch,
): Promise<Excerpt> {
  const { encoding, size, head } = file;
  const from = Math.max(encoding.mark, size - tailBytes);
  // In UTF-16 a character begins at even bytes.
  const start = from + (from % encoding.unit);
  const bytes = await readAt(file, start, tailBytes);
  const isWhole = start === encoding.mark;
  // The piece begins somewhere inside its first line.
  const next = isWhole ? 0 : nextLine(bytes, 0, encoding);
  const isInside = next === -1 || next === bytes.length;
  const whole = isInside
    ? fromCharacter(bytes.subarray(-2 * lineCharacters), encoding.label)
    : bytes.subarray(next);
  const { lines: all, said } = shownLines(whole, file);
  const lines = isInside ? [`…${all.join('').slice(-lineCharacters)}`] : all.slice(-count);
  if (isInside) said.push(cutNote);
  const isCounted = line_numbers || head.length === size;
  const place = isCounted ? await search.lines.find(file, Infinity, search.signal) : undefined;
  const total = place && 'lines' in place ? place.lines : undefined;
  const first = line_numbers && total !== undefined ? total - lines.length + 1 : undefined;
  return excerptOf(lines, said, first, {
    fromEnd: true,
    notes(kept) {
      if (isWhole && kept === all.length) return [];
      const which = total === undefined ? `last ${kept} lines` : `lines ${total - kept + 1}-${total}`;
      return [`${which} of ${bytesOf(size)}`];
    },
  });
}

/** A range of bytes, without the halves of characters at its ends. */
export async function byteRange(file: TextFile, range: { from: number; count: number }): Promise<Excerpt> {
  const { encoding, size, name } = file;
  const from = Math.max(encoding.mark, range.from - (range.from % encoding.unit));
  if (from >= size) throw new ToolcribError('ARG_INVALID', `bytes: ${name} has ${bytesOf(size)}.`);
  const raw = await readAt(file, from, Math.max(range.count, 4));
  const start = fromCharacter(raw, encoding.label);
  const isLast = from + raw.length >= size;
  const cut = isLast
    ? 0
    : halves.find((count) => fits(start.subarray(0, start.length - count), encoding.label, false));
  const bytes = start.subarray(0, start.length - (cut ?? 0));
  const { text, notes: broken } = decoded(bytes, file);
  // A character cut off at the end belongs to the next range.
  const end = from + raw.length - start.length + bytes.length;
  const next = end < size && end > from ? `next: bytes {"from": ${end}}` : 'end of file';
  const notes = [`bytes ${from}-${end - 1} of ${bytesOf(size)}`, next, ...broken];
  return { length: text.length, fit: () => ({ text, notes }) };
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

/** Lines as they are shown, and what to say about them. Throws what decoded() throws. */
function shownLines(bytes: Buffer, file: TextFile): { lines: string[]; said: string[] } {
  const { text, notes: said } = decoded(bytes, file);
  const lines = text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
  const isCut = lines.some((line) => line.length > lineCharacters + 2);
  if (!isCut) return { lines, said };
  return {
    lines: lines.map((line) => (line.length > lineCharacters + 2 ? `${shortened(line)}\n` : line)),
    said: [...said, cutNote],
  };
}

interface Showing {
  /** Whether the end is kept where not everything has room. */
  readonly fromEnd?: boolean;
  /** What to say when that many of the lines are shown. */
  notes(kept: number): readonly string[];
}

/** Lines with numbers from `first` on, as many as have room. */
function excerptOf(
  lines: readonly string[],
  said: readonly string[],
  first: number | undefined,
  { fromEnd = false, notes }: Showing,
): Excerpt {
  const pieces = first === undefined ? lines : lines.map((line, index) => `${first + index}\t${line}`);
  return {
    length: pieces.reduce((sum, { length }) => sum + length, 0),
    fit(room) {
      const kept = fromEnd ? fitting(pieces.toReversed(), room).toReversed() : fitting(pieces, room);
      return { text: kept.join(''), notes: [...notes(kept.length), ...said] };
    },
  };
}

const shortened = (text: string, most = lineCharacters): string => `${headOf(text, Math.max(0, most))}…`;

/** As many pieces as fit; of one that does not fit even alone, its beginning. */
function fitting(pieces: readonly string[], room: number): readonly string[] {
  let length = 0;
  const over = pieces.findIndex((piece) => (length += piece.length) > room);
  if (over === -1) return pieces;
  return over === 0 ? [`${shortened(pieces[0] ?? '', room - 2)}\n`] : pieces.slice(0, over);
}

export const bytesOf = (count: number): string => `${withCommas(count)} bytes`;

/** A text with what there is to say about it in a last line. */
export function withNotes(text: string, notes: readonly string[]): string {
  if (notes.length === 0) return text;
  return `${text}${text === '' || text.endsWith('\n') ? '' : '\n'}[${notes.join('; ')}]`;
}
