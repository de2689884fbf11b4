import { headOf } from '../../core/cut-text.ts';
import { ToolcribError } from '../../core/errors.ts';
import { shownText } from '../text/exact-encoding.ts';
import { fits, mostlyUtf8, nextLine, unknownEncoding } from '../text/text-file.ts';
import type { Search } from './line-index.ts';
import { readAt, type TextFile } from './text-source.ts';

/** Which lines, and how they are shown. */
export interface WantedLines {
  readonly limit: number;
  readonly line_numbers: boolean;
  /** More characters than that will not be shown. */
  readonly most: number;
}

/** A part of a text that can be shown in more or less room. */
export interface Excerpt {
  /** Characters of all of it. */
  readonly length: number;
  /** As much of it as has `room`, and what to say about it. */
  fit(room: number): { readonly text: string; readonly notes: readonly string[] };
}

/** One line, as much of it as is shown. */
interface Line {
  readonly bytes: Buffer;
  /** What is left out of it. */
  readonly cut: 'start' | 'end' | undefined;
  /** Where the next line begins; undefined when that is too far away to look for. */
  readonly next: number | undefined;
}

/** Characters shown of one line, and bytes that are enough for them. */
const lineCharacters = 2000;
const lineBytes = 8_000;
/** What is read for one answer; no line that is longer is looked through to its end. */
const windowBytes = 1024 * 1024;
const tailBytes = 64 * 1024;
const cutNote = `lines longer than ${lineCharacters.toLocaleString('en')} characters are cut at …`;

/** Lines from one on. Throws ARG_INVALID when there is none, and what LineIndexes.find throws. */
export async function linesFrom(
  file: TextFile,
  first: number,
  { limit, line_numbers, most }: WantedLines,
  { lines: indexes, signal }: Search,
): Promise<Excerpt> {
  const found = await indexes.find(file, first, signal);
  if ('lines' in found)
    throw new ToolcribError('ARG_INVALID', `offset: ${file.name} has ${found.lines} lines.`);
  const window = await readAt(file, found.start, windowBytes);
  // A character has three bytes at most for each of its UTF-16 units, so this is always enough.
  const lines = linesIn(window, found.start, file, { lines: limit, bytes: 3 * most });
  return excerptOf(lines, file, {
    numbered: line_numbers ? first : undefined,
    fromEnd: false,
    notes(kept) {
      const last = first + kept - 1;
      const end = kept === 0 ? found.start : lines[kept - 1]?.next;
      if (first === 1 && end === file.size) return [];
      const goesOn = `line ${last} goes on for more than 1 MB: read it with bytes`;
      const next = end === undefined ? goesOn : end < file.size ? `next: offset ${last + 1}` : 'end of file';
      return [`lines ${first}-${last} of ${bytesOf(file.size)}`, next];
    },
  });
}

/**
 * The lines of bytes that begin at `position`; the last is left out where its end is not among them, unless it is the
 * first.
 */
function linesIn(
  bytes: Buffer,
  position: number,
  file: TextFile,
  enough: { lines: number; bytes: number },
): Line[] {
  const lines: Line[] = [];
  const isLast = position + bytes.length >= file.size;
  for (let [at, kept] = [0, 0]; at < bytes.length && lines.length < enough.lines && kept <= enough.bytes;) {
    const found = nextLine(bytes, at, file.encoding);
    if (found === -1 && !isLast && lines.length > 0) break;
    const end = found === -1 ? bytes.length : found;
    const next = found === -1 && !isLast ? undefined : position + end;
    const cut = end - at > lineBytes || next === undefined ? 'end' : undefined;
    const shown = bytes.subarray(at, Math.min(end, at + lineBytes));
    lines.push({ bytes: cut ? wholeCharacters(shown, file.encoding.label) : shown, cut, next });
    kept += Math.min(end - at, lineBytes);
    at = end;
  }
  return lines;
}

/** The last lines. Reads one piece at most: more is never shown. Throws what LineIndexes.find throws. */
export async function lastLines(
  file: TextFile,
  count: number,
  { line_numbers }: WantedLines,
  { lines: indexes, signal }: Search,
): Promise<Excerpt> {
  const { encoding, size, head } = file;
  const from = Math.max(encoding.mark, size - tailBytes);
  // In UTF-16 a character begins at even bytes.
  const start = from + (from % encoding.unit);
  const bytes = await readAt(file, start, tailBytes);
  const all = linesIn(bytes, start, file, { lines: Infinity, bytes: Infinity });
  const isWhole = start === encoding.mark;
  const [first] = all;
  // The piece begins somewhere inside its first line.
  const shown: Line[] = isWhole
    ? all
    : first && all.length === 1
      ? [{ ...first, bytes: fromCharacter(bytes.subarray(-lineCharacters), encoding.label), cut: 'start' }]
      : all.slice(1);
  const lines = shown.slice(-count);
  const found = line_numbers || head.length === size ? await indexes.find(file, Infinity, signal) : undefined;
  const total = found && 'lines' in found ? found.lines : undefined;
  return excerptOf(lines, file, {
    numbered: line_numbers && total !== undefined ? total - lines.length + 1 : undefined,
    fromEnd: true,
    notes(kept) {
      if (isWhole && kept === all.length) return [];
      const which = total === undefined ? `last ${kept} lines` : `lines ${total - kept + 1}-${total}`;
      return [`${which} of ${bytesOf(size)}`];
    },
  });
}

/** A range of bytes, without the halves of characters at its ends. */
export async function byteRange(file: TextFile, wanted: { from: number; count: number }): Promise<Excerpt> {
  const { encoding, size, name } = file;
  const from = Math.max(encoding.mark, wanted.from - (wanted.from % encoding.unit));
  if (from >= size) throw new ToolcribError('ARG_INVALID', `bytes: ${name} has ${bytesOf(size)}.`);
  const raw = await readAt(file, from, Math.max(wanted.count, 4));
  const start = fromCharacter(raw, encoding.label);
  const isLast = from + raw.length >= size;
  const bytes = isLast ? start : wholeCharacters(start, encoding.label);
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

/** Without a character that was cut off at the end. */
function wholeCharacters(bytes: Buffer, label: string): Buffer {
  const isWhole = (part: Buffer) => {
    try {
      return new TextDecoder(label, { fatal: true }).decode(part) !== undefined;
    } catch {
      return false;
    }
  };
  const cut = halves.find((cut) => isWhole(bytes.subarray(0, bytes.length - cut))) ?? 0;
  return bytes.subarray(0, bytes.length - cut);
}

/** How lines become an excerpt. */
interface Showing {
  /** The number of the first line; undefined when lines are shown without numbers. */
  readonly numbered: number | undefined;
  /** Whether the end is kept where not everything has room. */
  readonly fromEnd: boolean;
  /** What to say when that many of the lines are shown. */
  notes(kept: number): readonly string[];
}

/** Lines as they are shown. Throws ENCODING when they are no text. */
function excerptOf(lines: readonly Line[], file: TextFile, showing: Showing): Excerpt {
  const said = decoded(Buffer.concat(lines.map(({ bytes }) => bytes)), file).notes;
  const pieces = lines.map(({ bytes, cut }, index) => {
    const text = shownText(bytes, file.encoding.label);
    const isCut = cut !== undefined || text.length > lineCharacters + 2;
    if (isCut && !said.includes(cutNote)) said.push(cutNote);
    const shown = cut === 'start' ? `…${text}` : isCut ? `${shortened(text)}\n` : text;
    return showing.numbered === undefined ? shown : `${showing.numbered + index}\t${shown}`;
  });
  return {
    length: pieces.reduce((sum, { length }) => sum + length, 0),
    fit(room) {
      const kept = showing.fromEnd ? fitting(pieces.toReversed(), room).toReversed() : fitting(pieces, room);
      return { text: kept.join(''), notes: [...showing.notes(kept.length), ...said] };
    },
  };
}

/** The text of some bytes. Throws ENCODING when they are not what the beginning of the file was. */
function decoded(bytes: Buffer, { encoding: { label }, name }: TextFile): { text: string; notes: string[] } {
  const text = shownText(bytes, label);
  if (!text.includes('\ufffd') || fits(bytes, label)) return { text, notes: [] };
  if (label === 'utf-8' && !mostlyUtf8(bytes)) throw unknownEncoding(bytes, name);
  return { text, notes: [`bytes that are no ${label === 'utf-8' ? 'UTF-8' : label} are shown as \ufffd`] };
}

const shortened = (text: string, most = lineCharacters): string => `${headOf(text, Math.max(0, most))}…`;

/** As many pieces as fit; of one that does not fit even alone, its beginning. */
function fitting(pieces: readonly string[], room: number): string[] {
  let length = 0;
  const over = pieces.findIndex((piece) => (length += piece.length) > room);
  if (over === -1) return [...pieces];
  return over === 0 ? [`${shortened(pieces[0] ?? '', room - 2)}\n`] : pieces.slice(0, over);
}

export const bytesOf = (count: number): string => `${count.toLocaleString('en')} bytes`;

/** A text with what there is to say about it in a last line. */
export function withNotes(text: string, notes: readonly string[]): string {
  if (notes.length === 0) return text;
  return `${text}${text === '' || text.endsWith('\n') ? '' : '\n'}[${notes.join('; ')}]`;
}
