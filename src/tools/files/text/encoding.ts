import { isUtf8 } from 'node:buffer';
import { ToolcribError } from '../../../core/errors.ts';
import { shownText, systemEncoding } from '../../../machine/decode.ts';
import { bytesOf } from '../wording.ts';

/** How the bytes of a text file are to be read. */
export interface Encoding {
  /** As TextDecoder, ripgrep and iconv-lite call it. */
  readonly label: string;
  /** Bytes of the byte order mark, which is no part of the text. */
  readonly mark: number;
}

/** What TextDecoder and iconv-lite have both. */
const supported =
  /^(?:utf-(?:8|16[lb]e)|ibm866|koi8-[ru]|macintosh|windows-\d+|iso-8859-\d+|gbk|gb18030|shift_jis|euc-[jk][pr]|big5)$/;

/** Names that people and programs use and TextDecoder does not know, or understands in another way. */
const aliases: ReadonlyMap<string, string> = new Map([
  // What `file` says of a file without other characters: UTF-8 is the same there.
  ...['ascii', 'us-ascii', 'utf-8-sig', 'utf-8-bom'].map((name) => [name, 'utf-8'] as const),
  ['latin-1', 'windows-1252'],
  ['cp932', 'shift_jis'],
  ['cp936', 'gbk'],
  ['cp949', 'euc-kr'],
  ['cp950', 'big5'],
]);

/** The encoding a person means, and whether the name asks for a byte order mark. Throws ARG_INVALID. */
export function namedEncoding(name: string): { readonly label: string; readonly marked: boolean } {
  const dashed = name.toLowerCase().replaceAll('_', '-');
  const label = [aliases.get(dashed) ?? name, dashed].map(whatwg).find((found) => supported.test(found));
  if (label !== undefined) return { label, marked: /^utf-(?:8-(?:sig|bom)|16)$/.test(dashed) };
  throw new ToolcribError(
    'ARG_INVALID',
    `encoding: “${name.slice(0, 40)}” is not known.`,
    'Known are utf-8, utf-16le, windows-1252, gbk, shift_jis and others by their usual names.',
  );
}

function whatwg(name: string): string {
  try {
    return new TextDecoder(name).encoding;
  } catch {
    // RangeError: it is none.
    return '';
  }
}

const marks: ReadonlyMap<string, Buffer> = new Map([
  ['utf-8', Buffer.of(0xef, 0xbb, 0xbf)],
  ['utf-16le', Buffer.of(0xff, 0xfe)],
  ['utf-16be', Buffer.of(0xfe, 0xff)],
]);

/** The bytes of the byte order mark of an encoding; none for those that have none. */
export const markOf = (label: string): Buffer => marks.get(label) ?? Buffer.alloc(0);

export const isWide = (label: string): boolean => label.startsWith('utf-16');

/** The encoding that a byte order mark tells. */
export function markedEncoding(bytes: Buffer): Encoding | undefined {
  // FF FE 00 00 would be UTF-32, which no tool writes: far more likely it is no text at all.
  if (bytes.length >= 4 && bytes.readUInt32LE() === 0xfeff) return undefined;
  const found = [...marks].find(([, mark]) => bytes.subarray(0, mark.length).equals(mark));
  return found && { label: found[0], mark: found[1].length };
}

/** Whether bytes are text in an encoding; they may end within a character. */
function fits(bytes: Buffer, label: string): boolean {
  try {
    new TextDecoder(label, { fatal: true, ignoreBOM: true }).decode(bytes, { stream: true });
    return true;
  } catch {
    // TypeError: they are not.
    return false;
  }
}

/**
 * What is read as UTF-8 without being told. A few NULs are text (`find -print0`), and so are a few broken
 * bytes.
 */
export function isText(bytes: Buffer): boolean {
  if (bytes.includes(0) && bytes.filter((byte) => byte === 0).length > bytes.length / 10) return false;
  if (isUtf8(bytes) || fits(bytes, 'utf-8')) return true;
  // Hardly any other text has more sequences of UTF-8 than other bytes.
  const text = bytes.toString();
  const broken = text.match(/\ufffd/g)?.length ?? 0;
  return (text.match(/[^\x00-\x7f\ufffd]/g)?.length ?? 0) >= 4 * broken;
}

/**
 * How a file is encoded, of which these are all bytes, or the first: as the caller says, else by its byte
 * order mark, else UTF-8. Throws ENCODING with the likely name when it is none of these, and ARG_INVALID for
 * a name that is not known or that the byte order mark contradicts.
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
  if (found) return found;
  if (named !== undefined && named !== 'utf-8') return { label: named, mark: 0 };
  if (!isText(bytes)) throw unknownEncoding(bytes, path, size);
  return { label: 'utf-8', mark: 0 };
}

/** A text in UTF-8, without a byte order mark, as far as it can be read; undefined when it is none. */
export function asUtf8(bytes: Buffer, named?: string): Buffer | undefined {
  const { label, mark } = markedEncoding(bytes) ?? { label: named ?? 'utf-8', mark: 0 };
  const body = bytes.subarray(mark);
  if (label !== 'utf-8') return Buffer.from(shownText(body, label));
  if (!isText(bytes)) return undefined;
  return isUtf8(body) ? body : Buffer.from(body.toString());
}

/** Says what a file is instead of text in UTF-8. */
export function unknownEncoding(bytes: Buffer, path: string, size = bytes.length): ToolcribError {
  const likely = likelyEncodings(bytes);
  if (likely.length === 0)
    return new ToolcribError(
      'ENCODING',
      `${path}: is binary data, ${bytesOf(size)}, and not text.`,
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
  if (controls.length > head.length / 20) return [];
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
  const all = ['gbk', 'shift_jis', 'euc-jp', 'euc-kr', 'big5', 'windows-1251'];
  return all.filter((label) => fits(sample, label));
}
