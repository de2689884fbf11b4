import { ToolcribError } from '../../core/errors.ts';
import { systemEncoding } from '../../machine/decode.ts';
import { asWindows1252 } from '../../machine/windows-1252.ts';

/** How the bytes of a text file are to be read. */
export interface Encoding {
  /** As TextDecoder calls it. */
  readonly label: string;
  /** Bytes of the byte order mark, which is no part of the text. */
  readonly mark: 0 | 2 | 3;
  /** Bytes of the smallest character. */
  readonly unit: 1 | 2;
}

/** Some bytes of a text; with `cut` they may end within a character. */
interface Piece {
  readonly bytes: Buffer;
  readonly cut: boolean;
}

const marks: readonly { bytes: Buffer; encoding: Encoding }[] = [
  { bytes: Buffer.of(0xef, 0xbb, 0xbf), encoding: { label: 'utf-8', mark: 3, unit: 1 } },
  { bytes: Buffer.of(0xff, 0xfe), encoding: { label: 'utf-16le', mark: 2, unit: 2 } },
  { bytes: Buffer.of(0xfe, 0xff), encoding: { label: 'utf-16be', mark: 2, unit: 2 } },
];

/** How a file that begins with `head` is encoded; undefined when it is no text. */
export function encodingOf(head: Buffer): Encoding | undefined {
  const marked = marks.find(({ bytes }) => head.subarray(0, bytes.length).equals(bytes));
  // FF FE 00 00 would be UTF-32, which no tool writes: far more likely it is no text at all.
  if (marked && !(marked.encoding.unit === 2 && head.length >= 4 && head.readUInt16LE(2) === 0))
    return marked.encoding;
  const wide = unmarkedWide(head);
  if (wide) return { label: wide, mark: 0, unit: 2 };
  const utf8 = decoded([{ bytes: head, cut: true }], 'utf-8') !== undefined;
  if (looksBinary(head, utf8)) return undefined;
  return { label: utf8 || mostlyUtf8(head) ? 'utf-8' : systemEncoding(), mark: 0, unit: 1 };
}

/**
 * Which UTF-16 bytes without a mark are in: in most texts more than half of the characters are ASCII, with a zero byte
 * always on the same side, and none is NUL. Undefined when it is not plainly so.
 */
function unmarkedWide(head: Buffer): 'utf-16le' | 'utf-16be' | undefined {
  const looked = Math.min(head.length, 8192) & ~1;
  if (looked < 4 || !head.subarray(0, looked).includes(0)) return undefined;
  let [little, big] = [0, 0];
  for (let at = 0; at < looked; at += 2) {
    const [first = 0, second = 0] = [head[at], head[at + 1]];
    if (first === 0 && second === 0) return undefined;
    if (second === 0 && isPlain(first)) little++;
    if (first === 0 && isPlain(second)) big++;
  }
  const label = little > big ? 'utf-16le' : 'utf-16be';
  if (Math.max(little, big) < looked / 4) return undefined;
  return decoded([{ bytes: head.subarray(0, looked), cut: true }], label) && label;
}

const isPlain = (byte: number): boolean => (byte >= 0x20 && byte < 0x7f) || (byte >= 0x09 && byte <= 0x0d);

/** Text in which few bytes are broken: hardly any text of another encoding has more sequences of UTF-8 than other bytes. */
export function mostlyUtf8(head: Buffer): boolean {
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(head);
  const broken = text.match(/\ufffd/g)?.length ?? 0;
  return (text.match(/[^\x00-\x7f\ufffd]/g)?.length ?? 0) >= 4 * broken;
}

/** UTF-8 with a few NULs is text (`find -print0`); what is neither UTF-8 nor free of controls is not. */
function looksBinary(head: Buffer, utf8: boolean): boolean {
  if (!head.includes(0)) return !utf8 && share(head, isControl) > 1 / 20;
  return !utf8 || share(head, (byte) => byte === 0) > 1 / 10;
}

const share = (bytes: Buffer, fits: (byte: number) => boolean): number =>
  bytes.filter(fits).length / bytes.length;

/** Escape and the blanks from tab to carriage return are used in texts. */
const isControl = (byte: number): boolean => byte < 0x20 && byte !== 0x1b && (byte < 0x09 || byte > 0x0d);

/** The texts of pieces, undefined when one is not in that encoding. Half a character at the end of a cut one is left out. */
function decoded(pieces: readonly Piece[], label: string): string[] | undefined {
  const options = { fatal: true, ignoreBOM: true };
  const decoder = new TextDecoder(label, options);
  try {
    // A decoder that was told of more to come remembers the half character.
    const texts = pieces.map(({ bytes, cut }) =>
      cut ? new TextDecoder(label, options).decode(bytes, { stream: true }) : decoder.decode(bytes),
    );
    return label === 'windows-1252' ? texts.map(asWindows1252) : texts;
  } catch {
    return undefined;
  }
}

/** Without a character that was cut off at the end. */
export function wholeUtf8(bytes: Buffer): Buffer {
  for (let back = 1; back <= 3; back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    // The first byte of a character of two, three or four.
    if (byte >= 0xc0)
      return back < (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) ? bytes.subarray(0, -back) : bytes;
    if (byte < 0x80) return bytes;
  }
  return bytes;
}

/**
 * The text of pieces of one file, and the encoding that was used: the file's, or else the system's code page for all of
 * them. In UTF-8 with a few bytes that are none, those are shown as U+FFFD. Throws ENCODING when a piece is no text.
 */
export function decodePieces(pieces: readonly Piece[], encoding: Encoding, path: string) {
  const texts = decoded(pieces, encoding.label);
  if (texts) return { texts, label: encoding.label, broken: false };
  if (encoding.label === 'utf-8' && mostlyUtf8(Buffer.concat(pieces.map(({ bytes }) => bytes)))) {
    const lenient = new TextDecoder('utf-8', { ignoreBOM: true });
    const shown = pieces.map(({ bytes, cut }) => lenient.decode(cut ? wholeUtf8(bytes) : bytes));
    return { texts: shown, label: 'utf-8', broken: true };
  }
  const fallback = encoding.unit === 1 ? systemEncoding() : encoding.label;
  const again = pieces.some(({ bytes }) => bytes.includes(0)) ? undefined : decoded(pieces, fallback);
  if (again) return { texts: again, label: fallback, broken: false };
  throw new ToolcribError(
    'ENCODING',
    `${path}: this part is not text in ${encoding.label}.`,
    'Read another part.',
  );
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
export function binaryKind(head: Buffer): string {
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
