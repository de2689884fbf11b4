import { isUtf8 } from 'node:buffer';
import { ToolcribError } from '../../core/errors.ts';
import { systemEncoding } from '../../machine/decode.ts';
import { multiByte, namedEncoding } from './encoding-name.ts';

/** How the bytes of a text file are to be read. */
export interface Encoding {
  /** As TextDecoder calls it. */
  readonly label: string;
  /** Bytes of the byte order mark, which is no part of the text. */
  readonly mark: 0 | 2 | 3;
  /** Bytes of the smallest character. */
  readonly unit: 1 | 2;
}

/** How a text is encoded, and whether some of its bytes are not: then it is edited as bytes all the same. */
export interface WholeEncoding {
  readonly encoding: Encoding;
  readonly broken: boolean;
}

/** The bytes of the byte order mark of an encoding; none for those that have none. */
export function markOf(label: string): Buffer {
  if (label === 'utf-8') return Buffer.of(0xef, 0xbb, 0xbf);
  if (label === 'utf-16le') return Buffer.of(0xff, 0xfe);
  return label === 'utf-16be' ? Buffer.of(0xfe, 0xff) : Buffer.alloc(0);
}

/** An encoding as it is found in bytes: with a mark when they begin with it. */
export function encodingIn(bytes: Buffer, label: string): Encoding {
  const mark = markOf(label);
  const marked = mark.length > 0 && bytes.subarray(0, mark.length).equals(mark);
  return {
    label,
    mark: !marked ? 0 : mark.length === 3 ? 3 : 2,
    unit: label.startsWith('utf-16') ? 2 : 1,
  };
}

function markedEncoding(bytes: Buffer): Encoding | undefined {
  const marked = ['utf-8', 'utf-16le', 'utf-16be'].map((label) => encodingIn(bytes, label));
  const found = marked.find(({ mark }) => mark > 0);
  // FF FE 00 00 would be UTF-32, which no tool writes: far more likely it is no text at all.
  return found?.unit === 2 && bytes.length >= 4 && bytes.readUInt16LE(2) === 0 ? undefined : found;
}

/** Whether bytes, which may end within a character, are text in an encoding. */
export function fits(bytes: Buffer, label: string): boolean {
  if (label === 'utf-8' && isUtf8(bytes)) return true;
  try {
    new TextDecoder(label, { fatal: true, ignoreBOM: true }).decode(bytes, { stream: true });
    return true;
  } catch {
    return false;
  }
}

/**
 * How a file is encoded, of which these are all bytes, or the first: as the caller says, else by its byte order mark,
 * else UTF-8. Throws ENCODING with the likely name when it is none of these, or not in the named one, and ARG_INVALID
 * for a name that is not known or that the byte order mark contradicts.
 */
export function encodingOf(bytes: Buffer, path: string, name?: string, size = bytes.length): WholeEncoding {
  const found = markedEncoding(bytes);
  if (name !== undefined) return statedEncoding(bytes, path, namedEncoding(name).label, found);
  if (found) return { encoding: found, broken: !fits(bytes, found.label) };
  const encoding = encodingIn(bytes, 'utf-8');
  const whole = fits(bytes, 'utf-8');
  // A few NULs are text (`find -print0`).
  if (!isBinary(bytes) && (whole || mostlyUtf8(bytes))) return { encoding, broken: !whole };
  throw unknownEncoding(bytes, path, size);
}

function statedEncoding(
  bytes: Buffer,
  path: string,
  label: string,
  found: Encoding | undefined,
): WholeEncoding {
  if (found && found.label !== label)
    throw new ToolcribError(
      'ARG_INVALID',
      `encoding: ${path} begins with the byte order mark of ${found.label}, and is not ${label}.`,
      'Leave encoding out.',
    );
  return { encoding: encodingIn(bytes, label), broken: label === 'utf-8' && !fits(bytes, label) };
}

/** As what a text is shown that is not going to be written; undefined when it is no text. */
export function encodingToShow(bytes: Buffer): Encoding | undefined {
  const found = markedEncoding(bytes);
  if (found) return found;
  if (fits(bytes, 'utf-8') || mostlyUtf8(bytes))
    return isBinary(bytes) ? undefined : encodingIn(bytes, 'utf-8');
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
  const wide = wideEncoding(head);
  if (wide) return [wide];
  const controls = head.filter((byte) => byte < 0x20 && byte !== 0x1b && (byte < 0x09 || byte > 0x0d));
  if (binaryKind(head) !== 'binary data' || controls.length > head.length / 20) return [];
  const first = Math.max(
    0,
    bytes.findIndex((byte) => byte >= 0x80),
  );
  const others = bytes.toString('latin1', first, first + 8192);
  const pairs = others.match(/[\x80-\xff]{2}/g)?.length ?? 0;
  const alone = others.match(/(?<![\x80-\xff])[\x80-\xff](?![\x80-\xff])/g)?.length ?? 0;
  // In western texts letters with accents stand alone; elsewhere nearly all letters are not ASCII.
  if (alone >= pairs) return [systemEncoding()];
  const sample = Buffer.from(others, 'latin1');
  return [...multiByte, 'windows-1251'].filter((label) => label !== 'gb18030' && fits(sample, label));
}

/** Which UTF-16 bytes without a mark are in: in most texts every other byte is zero. */
function wideEncoding(head: Buffer): 'utf-16le' | 'utf-16be' | undefined {
  const zeros = [0, 1].map((side) => head.filter((byte, at) => byte === 0 && at % 2 === side).length);
  const [high = 0, low = 0] = zeros;
  const plain = Math.max(high, low) >= head.length / 4 && Math.min(high, low) === 0;
  if (!plain || head.length < 4) return undefined;
  return high > low ? 'utf-16be' : 'utf-16le';
}

const isBinary = (bytes: Buffer): boolean =>
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

/**
 * The same for what is to be edited as a whole. Throws ENCODING also for what is no text, and for characters of several
 * bytes that are not whole: a search could hit the second half of one.
 */
export function wholeEncoding(bytes: Buffer, path: string, name: string | undefined): WholeEncoding {
  const found = encodingOf(bytes, path, name);
  const { label, unit } = found.encoding;
  // A text can begin with the letters of a signature.
  const isPlain = isUtf8(bytes) && !bytes.includes(0);
  if (!isPlain && (binaryKind(bytes) !== 'binary data' || (unit === 1 && isBinary(bytes))))
    throw unknownEncoding(bytes, path);
  const whole = unit === 2 ? bytes.length % 2 === 0 : !multiByte.has(label) || isWhole(bytes, label);
  if (whole) return { ...found, broken: label === 'utf-8' && found.broken };
  const why = unit === 2 ? 'it has an odd number of bytes' : 'some of its bytes are no characters there';
  throw new ToolcribError(
    'ENCODING',
    `${path}: is not text in ${label}: ${why}.`,
    'Name its real encoding, or have it repaired first.',
  );
}

function isWhole(bytes: Buffer, label: string): boolean {
  try {
    new TextDecoder(label, { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}

/** Where the line after the one at `from` begins; -1 when the bytes have no line feed there. */
export function nextLine(bytes: Buffer, from: number, { label, unit }: Encoding): number {
  if (unit === 1) return bytes.indexOf(10, from) + 1 || -1;
  const lineFeed = label === 'utf-16le' ? Buffer.of(10, 0) : Buffer.of(0, 10);
  for (let at = bytes.indexOf(lineFeed, from); at !== -1; at = bytes.indexOf(lineFeed, at + 1)) {
    // Halves of two characters can look like a line feed.
    if (at % 2 === 0) return at + 2;
  }
  return -1;
}

const signatures: readonly [signature: string, what: string][] = [
  ['7f454c46', 'an ELF program'],
  ['4d5a', 'a Windows program'],
  ['cffaedfe', 'a macOS program'],
  ['cafebabe', 'a Java class or macOS program'],
  ['0061736d', 'WebAssembly'],
  ['25504446', 'a PDF document'],
  ['504b0304', 'a ZIP archive (also docx, xlsx, jar)'],
  ['1f8b', 'gzip data'],
  ['28b52ffd', 'Zstandard data'],
  ['fd377a585a', 'xz data'],
  ['53514c69746520666f726d6174203300', 'an SQLite database'],
];

/** What a binary file is, by its first bytes. */
function binaryKind(head: Buffer): string {
  const start = head.subarray(0, 16).toString('hex');
  return signatures.find(([signature]) => start.startsWith(signature))?.[1] ?? 'binary data';
}

/** The media type of an image that models can look at; undefined for anything else. */
export function imageType(head: Buffer): string | undefined {
  const start = head.subarray(0, 12).toString('latin1');
  if (start.startsWith('\x89PNG\r\n\x1a\n')) return 'image/png';
  if (start.startsWith('\xff\xd8\xff')) return 'image/jpeg';
  if (start.startsWith('GIF87a') || start.startsWith('GIF89a')) return 'image/gif';
  return start.startsWith('RIFF') && start.endsWith('WEBP') ? 'image/webp' : undefined;
}
