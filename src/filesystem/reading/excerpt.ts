import { headOf } from '../../core/cut-text.ts';
import { ToolcribError } from '../../core/errors.ts';
import { readAt, type Line, type TextFile } from './file-lines.ts';
import { decodePieces, wholeUtf8 } from '../text/text-file.ts';

/** Characters shown of one line. */
const lineCharacters = 2000;

/** A part of a text that can be shown in more or less room. */
export interface Excerpt {
  /** The encoding it was shown in. */
  readonly label: string;
  /** Characters of all of it. */
  readonly length: number;
  /** As much of it as has `room`, and what to say about it. */
  fit(room: number): Fitted;
}

interface Fitted {
  readonly text: string;
  readonly notes: readonly string[];
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
export function excerptOf(lines: readonly Line[], file: TextFile, showing: Showing): Excerpt {
  const { texts, label, broken } = textsOf(lines, file);
  const said = otherEncoding({ label, broken }, file);
  const pieces = texts.map((text, index) => {
    const headless = lines[index]?.headless === true;
    const cut = headless || lines[index]?.cut || text.length > lineCharacters + 2;
    const shown = headless ? `…${text}` : cut ? `${shortened(text, lineCharacters)}\n` : text;
    if (cut && !said.includes(cutNote)) said.push(cutNote);
    return showing.numbered === undefined ? shown : `${showing.numbered + index}\t${shown}`;
  });
  return {
    label,
    length: pieces.reduce((sum, { length }) => sum + length, 0),
    fit(room) {
      const kept = showing.fromEnd ? fitting(pieces.toReversed(), room).toReversed() : fitting(pieces, room);
      const notes = [...showing.notes(kept.length), ...said];
      return { text: kept.join(''), notes };
    },
  };
}

/** A range of bytes, without the halves of characters at its ends. */
export async function byteRange(file: TextFile, wanted: { from: number; count: number }): Promise<Excerpt> {
  const { encoding, size, name } = file;
  const from = Math.max(encoding.mark, wanted.from - (wanted.from % encoding.unit));
  if (from >= size) throw new ToolcribError('ARG_INVALID', `bytes: ${name} has ${bytesOf(size)}.`);
  const raw = await readAt(file, from, Math.max(wanted.count, 4));
  const bytes = withoutPartialStart(raw, file);
  const { text, label, length, broken } = wholeCharacters(bytes, from + raw.length >= size, file);
  // A character cut off at the end belongs to the next range.
  const end = from + raw.length - bytes.length + length;
  const next = end < size && end > from ? `next: bytes {"from": ${end}}` : 'end of file';
  const notes = [
    `bytes ${from}-${end - 1} of ${bytesOf(size)}`,
    next,
    ...otherEncoding({ label, broken }, file),
  ];
  return { label, length: text.length, fit: () => ({ text, notes }) };
}

/** GB 18030 has the longest characters: four bytes. */
const halves = [0, 1, 2, 3] as const;

/** Bytes that begin in the middle of a character, from the next one on. */
function withoutPartialStart(bytes: Buffer, file: TextFile): Buffer {
  const { label, unit } = file.encoding;
  if (label === 'utf-8') {
    const start = halves.find((at) => ((bytes[at] ?? 0) & 0xc0) !== 0x80) ?? 0;
    return bytes.subarray(start);
  }
  if (unit === 2) return bytes;
  const start = halves.find((at) => textIn(label, bytes.subarray(at), true, file) !== undefined) ?? 0;
  return bytes.subarray(start);
}

/** The text of bytes that may end within a character, and how many of them became text. */
function wholeCharacters(bytes: Buffer, last: boolean, file: TextFile) {
  const { texts, label, broken } = decoded([{ bytes, cut: !last }], file);
  const [text = ''] = texts;
  const most = bytes.length;
  if (last) return { text, label, broken, length: most };
  if (label === 'utf-8') return { text, label, broken, length: wholeUtf8(bytes).length };
  if (label.startsWith('utf-16')) return { text, label, broken, length: 2 * text.length };
  const half = halves.find((cut) => textIn(label, bytes.subarray(0, most - cut), false, file) === text) ?? 0;
  return { text, label, broken, length: most - half };
}

/** The text of bytes in that very encoding; undefined when they are none. */
function textIn(label: string, bytes: Buffer, cut: boolean, file: TextFile): string | undefined {
  try {
    const { texts, label: used } = decodePieces([{ bytes, cut }], file.encoding, file.name);
    return used === label ? texts[0] : undefined;
  } catch (error) {
    if (error instanceof ToolcribError) return undefined;
    throw error;
  }
}

/** The text of each line. Lines that lie one behind the other in memory are decoded at once. */
function textsOf(lines: readonly Line[], file: TextFile) {
  const runs: { bytes: Buffer; cut: boolean; lines: number }[] = [];
  for (const { bytes: found, cut, headless } of lines) {
    const bytes = headless ? withoutPartialStart(found, file) : found;
    const run = runs.at(-1);
    const follows =
      run &&
      !run.cut &&
      run.bytes.buffer === bytes.buffer &&
      run.bytes.byteOffset + run.bytes.length === bytes.byteOffset;
    if (follows) {
      run.bytes = Buffer.from(bytes.buffer, run.bytes.byteOffset, run.bytes.length + bytes.length);
      run.lines++;
      // Only what is at its end can be cut off.
      run.cut = cut;
    } else runs.push({ bytes, cut, lines: 1 });
  }
  const { texts, ...how } = decoded(runs, file);
  const split = texts.flatMap((text, index) => (runs[index]?.lines === 1 ? [text] : linesOf(text)));
  // An encoding in which a line feed can be half a character would be none that lines are found in.
  return split.length === lines.length ? { texts: split, ...how } : decoded(lines, file);
}

function linesOf(text: string): string[] {
  const lines: string[] = [];
  for (let from = 0; from < text.length;) {
    const end = text.indexOf('\n', from) + 1 || text.length;
    lines.push(text.slice(from, end));
    from = end;
  }
  return lines;
}

function decoded(pieces: readonly Pick<Line, 'bytes' | 'cut'>[], { encoding, name, chosen }: TextFile) {
  const found = decodePieces(pieces, encoding, name);
  if (!chosen || found.label === encoding.label) return found;
  throw new ToolcribError(
    'ENCODING',
    `${name}: this part is not text in ${encoding.label}.`,
    'Leave encoding out to see what it is taken for, or give another.',
  );
}

const shortened = (text: string, most: number): string => `${headOf(text, Math.max(0, most))}…`;

const cutNote = `lines longer than ${lineCharacters.toLocaleString('en')} characters are cut at …`;

function otherEncoding(
  { label, broken }: { label: string; broken: boolean },
  { encoding, chosen }: TextFile,
): string[] {
  if (broken) return ['bytes that are no UTF-8 are shown as \ufffd'];
  return label === 'utf-8' || encoding.mark > 0 || chosen ? [] : [`not UTF-8: read as ${label}`];
}

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
