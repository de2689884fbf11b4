import { isUtf8 } from 'node:buffer';
import { ToolcribError } from '../../../core/errors.ts';
import { shownText, systemEncoding } from '../../../machine/decode.ts';
import { formatBytes } from '../wording.ts';

/** The encoding of a text file. */
export interface Encoding {
  /** The name that TextDecoder, ripgrep and iconv-lite have for it. */
  readonly label: string;
  /** The length of the byte order mark, which is not part of the text. */
  readonly mark: number;
}

/** Encodings that both TextDecoder and iconv-lite support. */
const supported = new RegExp(
  String.raw`^(?:utf-(?:8|16[lb]e)|ibm866|koi8-[ru]|macintosh|windows-\d+|iso-8859-\d+|` +
    'gbk|gb18030|shift_jis|euc-[jk][pr]|big5)$',
);

/** Usual names that TextDecoder does not know, or takes for another encoding. */
const aliases: ReadonlyMap<string, string> = new Map([
  // The program `file` says ascii of files without other characters; they are UTF-8 as well.
  ...['ascii', 'us-ascii', 'utf-8-sig', 'utf-8-bom'].map((name) => [name, 'utf-8'] as const),
  ['latin-1', 'windows-1252'],
  ['cp932', 'shift_jis'],
  ['cp936', 'gbk'],
  ['cp949', 'euc-kr'],
  ['cp950', 'big5'],
]);

/**
 * Resolves the name of an encoding; `marked` says that the name asks for a byte order mark. Throws
 * ARG_INVALID.
 */
export function resolveEncoding(name: string): { readonly label: string; readonly marked: boolean } {
  const dashed = name.toLowerCase().replaceAll('_', '-');
  const label = [aliases.get(dashed) ?? name, dashed].map(whatwgName).find((known) => supported.test(known));
  if (label !== undefined) return { label, marked: /^utf-(?:8-(?:sig|bom)|16)$/.test(dashed) };
  throw new ToolcribError(
    'ARG_INVALID',
    `encoding: “${name.slice(0, 40)}” is not known.`,
    'Known are utf-8, utf-16le, windows-1252, gbk, shift_jis and others by their usual names.',
  );
}

/** The name of an encoding in the WHATWG standard; '' when it has none of that name. */
function whatwgName(name: string): string {
  try {
    return new TextDecoder(name).encoding;
  } catch {
    // TextDecoder throws a RangeError for a name that it does not know.
    return '';
  }
}

const marks: ReadonlyMap<string, Buffer> = new Map([
  ['utf-8', Buffer.of(0xef, 0xbb, 0xbf)],
  ['utf-16le', Buffer.of(0xff, 0xfe)],
  ['utf-16be', Buffer.of(0xfe, 0xff)],
]);

/** The byte order mark of an encoding; empty for encodings that have none. */
export const byteOrderMarkOf = (label: string): Buffer => marks.get(label) ?? Buffer.alloc(0);

/** Says whether an encoding has two bytes for a character. */
export const isWide = (label: string): boolean => label.startsWith('utf-16');

/** The encoding by a byte order mark; undefined without one. */
export function encodingByMark(bytes: Buffer): Encoding | undefined {
  // FF FE 00 00 is the mark of UTF-32, which no tool writes; such bytes are most likely not text.
  if (bytes.length >= 4 && bytes.readUInt32LE() === 0xfeff) return undefined;
  for (const [label, mark] of marks)
    if (bytes.subarray(0, mark.length).equals(mark)) return { label, mark: mark.length };
  return undefined;
}

/** Says whether bytes are text in an encoding; they may end inside a character. */
function isTextIn(bytes: Buffer, label: string): boolean {
  try {
    new TextDecoder(label, { fatal: true, ignoreBOM: true }).decode(bytes, { stream: true });
    return true;
  } catch {
    // TextDecoder throws a TypeError for bytes that are not text.
    return false;
  }
}

/**
 * Says whether bytes are read as UTF-8 when no encoding is named. A few NULs, as in the output of `find
 * -print0`, and a few broken bytes are allowed.
 */
export function isText(bytes: Buffer): boolean {
  if (bytes.includes(0) && bytes.filter((byte) => byte === 0).length > bytes.length / 10) return false;
  if (isUtf8(bytes) || isTextIn(bytes, 'utf-8')) return true;
  // Text in another encoding hardly ever has more sequences of UTF-8 than other bytes.
  const text = bytes.toString();
  const broken = text.match(/\ufffd/g)?.length ?? 0;
  return (text.match(/[^\x00-\x7f\ufffd]/g)?.length ?? 0) >= 4 * broken;
}

/**
 * Determines the encoding of a file from its bytes, or the first of them: the one that the caller names, else
 * that of the byte order mark, else UTF-8. Throws ENCODING with the likely name when it is none of these, and
 * ARG_INVALID for a name that is unknown or contradicts the byte order mark.
 */
export function encodingOf(bytes: Buffer, path: string, name?: string, size = bytes.length): Encoding {
  const byMark = encodingByMark(bytes);
  const named = name === undefined ? undefined : resolveEncoding(name).label;
  if (byMark && named !== undefined && byMark.label !== named)
    throw new ToolcribError(
      'ARG_INVALID',
      `encoding: ${path} begins with the byte order mark of ${byMark.label}, and is not ${named}.`,
      'Leave encoding out.',
    );
  if (byMark) return byMark;
  if (named !== undefined && named !== 'utf-8') return { label: named, mark: 0 };
  if (!isText(bytes)) throw unknownEncoding(bytes, path, size);
  return { label: 'utf-8', mark: 0 };
}

/**
 * Converts a text to UTF-8 without a byte order mark, as far as it can be read; undefined when it is not
 * text.
 */
export function toUtf8(bytes: Buffer, named?: string): Buffer | undefined {
  const { label, mark } = encodingByMark(bytes) ?? { label: named ?? 'utf-8', mark: 0 };
  const body = bytes.subarray(mark);
  if (label !== 'utf-8') return Buffer.from(shownText(body, label));
  if (!isText(bytes)) return undefined;
  return isUtf8(body) ? body : Buffer.from(body.toString());
}

/** The error for a file that is not text in UTF-8, with the encodings that are likely. */
export function unknownEncoding(bytes: Buffer, path: string, size = bytes.length): ToolcribError {
  const likely = likelyEncodings(bytes);
  if (likely.length === 0)
    return new ToolcribError(
      'ENCODING',
      `${path}: is binary data, ${formatBytes(size)}, and not text.`,
      'If it is text, name its encoding with encoding.',
    );
  return new ToolcribError(
    'ENCODING',
    `${path}: is not UTF-8, and has no byte order mark.`,
    `Name its encoding with encoding: likely ${likely.join(', ')}.`,
  );
}

/** The likely encodings of bytes that are not UTF-8, the likeliest first; none when they are not text. */
function likelyEncodings(bytes: Buffer): string[] {
  const head = bytes.subarray(0, 8192);
  // In most texts in UTF-16, every other byte is zero.
  const zeros = (side: number) => head.filter((byte, at) => byte === 0 && at % 2 === side).length;
  const [high, low] = [zeros(0), zeros(1)];
  if (head.length >= 4 && Math.max(high, low) >= head.length / 4 && Math.min(high, low) === 0)
    return [high > low ? 'utf-16be' : 'utf-16le'];
  const controls = head.filter((byte) => byte < 0x20 && byte !== 0x1b && (byte < 0x09 || byte > 0x0d));
  if (controls.length > head.length / 20) return [];
  const first = Math.max(
    0,
    bytes.findIndex((byte) => byte >= 0x80),
  );
  const sample = bytes.subarray(first, first + 8192);
  const others = sample.toString('latin1');
  const pairs = others.match(/[\x80-\xff]{2}/g)?.length ?? 0;
  const alone = others.match(/(?<![\x80-\xff])[\x80-\xff](?![\x80-\xff])/g)?.length ?? 0;
  // In western texts, letters with accents stand alone; in others, nearly all letters are outside of ASCII.
  if (alone >= pairs) return [systemEncoding()];
  const all = ['gbk', 'shift_jis', 'euc-jp', 'euc-kr', 'big5', 'windows-1251'];
  return all.filter((label) => isTextIn(sample, label));
}
