import { isUtf8 } from 'node:buffer';
import { ToolcribError } from '../../core/errors.ts';
import { systemEncoding } from '../../machine/decode.ts';
import { multiByte, namedEncoding } from './encoding-name.ts';

export { shownText } from '../../machine/decode.ts';

/** How the bytes of a text file are to be read. */
export interface Encoding {
  /** As TextDecoder calls it. */
  readonly label: string;
  /** Bytes of the byte order mark, which is no part of the text. */
  readonly mark: number;
  /** Bytes of the smallest character. */
  readonly unit: 1 | 2;
}

const marks: Readonly<Record<string, readonly number[]>> = {
  'utf-8': [0xef, 0xbb, 0xbf],
  'utf-16le': [0xff, 0xfe],
  'utf-16be': [0xfe, 0xff],
};

/** The bytes of the byte order mark of an encoding; none for those that have none. */
export const markOf = (label: string): Buffer => Buffer.from(marks[label] ?? []);

/** An encoding as it is found in bytes: with a mark when they begin with it. */
export function encodingIn(bytes: Buffer, label: string): Encoding {
  const mark = markOf(label);
  const isMarked = mark.length > 0 && bytes.subarray(0, mark.length).equals(mark);
  return { label, mark: isMarked ? mark.length : 0, unit: label.startsWith('utf-16') ? 2 : 1 };
}

/** The encoding that a byte order mark tells. */
export function markedEncoding(bytes: Buffer): Encoding | undefined {
  const found = Object.keys(marks)
    .map((label) => encodingIn(bytes, label))
    .find(({ mark }) => mark > 0);
  // FF FE 00 00 would be UTF-32, which no tool writes: far more likely it is no text at all.
  return found?.unit === 2 && bytes.length >= 4 && bytes.readUInt16LE(2) === 0 ? undefined : found;
}

/** Whether bytes are text in an encoding; `stream`: they may end within a character. */
export function fits(bytes: Buffer, label: string, stream = true): boolean {
  if (label === 'utf-8' && isUtf8(bytes)) return true;
  try {
    new TextDecoder(label, { fatal: true, ignoreBOM: true }).decode(bytes, { stream });
    return true;
  } catch {
    // TypeError: they are not.
    return false;
  }
}

/**
 * How a file is encoded, of which these are all bytes, or the first: as the caller says, else by its byte order mark,
 * else UTF-8. Throws ENCODING with the likely name when it is none of these, and ARG_INVALID for a name that is not
 * known or that the byte order mark contradicts.
 */
export function encodingOf(bytes: Buffer, path: string, name?: string, size = bytes.length): Encoding {
  const found = markedEncoding(bytes);
  const named = name === undefined ? undefined : namedEncoding(name).label;
  if (found && named !== undefined && found.label !== named)
    throw new ToolcribError(
      'ARG_INVALID',
      `encoding: ${path} begins with the byte order mark of ${found.label}, and is not ${named}.`,
      'Leave encoding out.',
    );
  if (named !== undefined) return encodingIn(bytes, named);
  // A few NULs are text (`find -print0`).
  if (!found && (isBinary(bytes) || !isMostlyUtf8(bytes))) throw unknownEncoding(bytes, path, size);
  return found ?? encodingIn(bytes, 'utf-8');
}

const isMostlyUtf8 = (bytes: Buffer): boolean => fits(bytes, 'utf-8') || mostlyUtf8(bytes);

/** As what a text is shown that is not going to be written; undefined when it is no text. */
export function encodingToShow(bytes: Buffer): Encoding | undefined {
  const found = markedEncoding(bytes);
  if (found) return found;
  if (isMostlyUtf8(bytes)) return isBinary(bytes) ? undefined : encodingIn(bytes, 'utf-8');
  const [likely] = likelyEncodings(bytes);
  return likely === undefined ? undefined : encodingIn(bytes, likely);
}

/** Says what a file is instead of text in UTF-8. */
export function unknownEncoding(bytes: Buffer, path: string, size = bytes.length): ToolcribError {
  const likely = likelyEncodings(bytes);
  if (likely.length === 0)
    return new ToolcribError(
      'ENCODING',
      `${path}: is ${binaryKind(bytes)}, ${size.toLocaleString('en')} bytes, and not text.`,
      'If it is text, name its encoding with encoding.',
    );
  return new ToolcribError(
    'ENCODING',
    `${path}: is not UTF-8, and has no byte order mark.`,
    `Name its encoding with encoding: likely ${likely.join(', ')}.`,
  );
}

/** Names to try for a text that is not UTF-8, the likeliest first; none when it is no text. */
function likelyEncodings(bytes: Buffer): string[] {
  const head = bytes.subarray(0, 8192);
  // In most texts in UTF-16 every other byte is zero.
  const zeros = (side: number) => head.filter((byte, at) => byte === 0 && at % 2 === side).length;
  const [high, low] = [zeros(0), zeros(1)];
  if (head.length >= 4 && Math.max(high, low) >= head.length / 4 && Math.min(high, low) === 0)
    return [high > low ? 'utf-16be' : 'utf-16le'];
  const controls = head.filter((byte) => byte < 0x20 && byte !== 0x1b && (byte < 0x09 || byte > 0x0d));
  if (binaryKind(head) !== 'binary data' || controls.length > head.length / 20) return [];
  const first = Math.max(
    0,
    bytes.findIndex((byte) => byte >= 0x80),
  );
  const sample = bytes.subarray(first, first + 8192);
  const others = sample.toString('latin1');
  const pairs = others.match(/[\x80-\xff]{2}/g)?.length ?? 0;
  const alone = others.match(/(?<![\x80-\xff])[\x80-\xff](?![\x80-\xff])/g)?.length ?? 0;
  // In western texts letters with accents stand alone; elsewhere nearly all letters are not ASCII.
  if (alone >= pairs) return [systemEncoding()];
  return [...multiByte, 'windows-1251'].filter((label) => label !== 'gb18030' && fits(sample, label));
}

export const isBinary = (bytes: Buffer): boolean =>
  bytes.includes(0) && bytes.filter((byte) => byte === 0).length > bytes.length / 10;

/**
 * Text in which few bytes are broken: hardly any text of another encoding has more sequences of UTF-8 than other
 * bytes.
 */
export function mostlyUtf8(bytes: Buffer): boolean {
  const text = bytes.toString();
  const broken = text.match(/\ufffd/g)?.length ?? 0;
  return (text.match(/[^\x00-\x7f\ufffd]/g)?.length ?? 0) >= 4 * broken;
}

/** Where the line after the one at `from` begins; -1 when the bytes have no line feed there. */
export function nextLine(bytes: Buffer, from: number, { label, unit }: Omit<Encoding, 'mark'>): number {
  if (unit === 1) return bytes.indexOf(10, from) + 1 || -1;
  const lineFeed = label === 'utf-16le' ? Buffer.of(10, 0) : Buffer.of(0, 10);
  for (let at = bytes.indexOf(lineFeed, from); at !== -1; at = bytes.indexOf(lineFeed, at + 1)) {
    // Halves of two characters can look like a line feed.
    if (at % 2 === 0) return at + 2;
  }
  return -1;
}

/** How many line feeds bytes have. */
export function countLines(bytes: Buffer, encoding: Omit<Encoding, 'mark'>): number {
  let count = 0;
  if (encoding.unit === 1)
    for (let at = bytes.indexOf(10); at !== -1; at = bytes.indexOf(10, at + 1)) count++;
  else for (let at = nextLine(bytes, 0, encoding); at !== -1; at = nextLine(bytes, at, encoding)) count++;
  return count;
}

const signatures: readonly [signature: string, what: string][] = [
  ['7f454c46', 'an ELF program'],
  ['4d5a', 'a Windows program'],
  ['25504446', 'a PDF document'],
  ['504b0304', 'a ZIP archive (also docx, xlsx, jar)'],
  ['1f8b', 'gzip data'],
  ['53514c69746520666f726d6174203300', 'an SQLite database'],
];

/** What a binary file is, by its first bytes. */
export function binaryKind(head: Buffer): string {
  const start = head.subarray(0, 16).toString('hex');
  return signatures.find(([signature]) => start.startsWith(signature))?.[1] ?? 'binary data';
}
