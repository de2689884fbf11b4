import { isUtf8 } from 'node:buffer';
import { ToolcribError } from '../../core/errors.ts';
import { shownText, systemEncoding } from '../../machine/decode.ts';

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
  const label = whatwg(aliases.get(dashed) ?? name) ?? whatwg(dashed);
  if (label !== undefined) return { label, marked: /^utf-(?:8-(?:sig|bom)|16)$/.test(dashed) };
  throw new ToolcribError(
    'ARG_INVALID',
    `encoding: “${name.slice(0, 40)}” is not known.`,
    'Known are utf-8, utf-16le, windows-1252, gbk, shift_jis and others by their usual names.',
  );
}

function whatwg(name: string): string | undefined {
  try {
    const { encoding } = new TextDecoder(name);
    return supported.test(encoding) ? encoding : undefined;
  } catch {
    // RangeError: it is none.
    return undefined;
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

function encodingIn(bytes: Buffer, label: string): Encoding {
  const mark = markOf(label);
  return { label, mark: bytes.subarray(0, mark.length).equals(mark) ? mark.length : 0 };
}

/** The encoding that a byte order mark tells. */
export function markedEncoding(bytes: Buffer): Encoding | undefined {
  // FF FE 00 00 would be UTF-32, which no tool writes: far more likely it is no text at all.
  if (bytes.length >= 4 && bytes.readUInt32LE() === 0xfeff) return undefined;
  return [...marks.keys()].map((label) => encodingIn(bytes, label)).find(({ mark }) => mark > 0);
}

/** Whether bytes are text in an encoding; they may end within a character. */
function fits(bytes: Buffer, label: string): boolean {
  if (label === 'utf-8' && isUtf8(bytes)) return true;
  try {
    new TextDecoder(label, { fatal: true, ignoreBOM: true }).decode(bytes, { stream: true });
    return true;
  } catch {
    // TypeError: they are not.
    return false;
  }
}

/** UTF-8, perhaps with few broken bytes: hardly any other text has more sequences of UTF-8 than other bytes. */
function isMostlyUtf8(bytes: Buffer): boolean {
  if (fits(bytes, 'utf-8')) return true;
  const text = bytes.toString();
  const broken = text.match(/\ufffd/g)?.length ?? 0;
  return (text.match(/[^\x00-\x7f\ufffd]/g)?.length ?? 0) >= 4 * broken;
}

/** A few NULs are text (`find -print0`). */
const isBinary = (bytes: Buffer): boolean =>
  bytes.includes(0) && bytes.filter((byte) => byte === 0).length > bytes.length / 10;

/** What toolcrib reads as UTF-8 without being told. */
export const isText = (bytes: Buffer): boolean => !isBinary(bytes) && isMostlyUtf8(bytes);

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
  if (named !== undefined && named !== 'utf-8') return encodingIn(bytes, named);
  if (!found && !isText(bytes)) throw unknownEncoding(bytes, path, size);
  return found ?? { label: 'utf-8', mark: 0 };
}

/** A text that is not going to be written, as far as it can be read; undefined when it is none. */
export function textToShow(bytes: Buffer, label?: string): string | undefined {
  const found = markedEncoding(bytes);
  const named = found?.label ?? (label === 'utf-8' ? undefined : label);
  const known = named ?? (isText(bytes) ? 'utf-8' : likelyEncodings(bytes)[0]);
  return known === undefined ? undefined : shownText(bytes.subarray(found?.mark ?? 0), known);
}

/** The same in UTF-8, without a byte order mark; most files are that already. */
export function asUtf8(bytes: Buffer, label = 'utf-8'): Buffer | undefined {
  const isPlain = label === 'utf-8' && isUtf8(bytes) && !bytes.includes(0);
  if (isPlain) return bytes.subarray(markedEncoding(bytes)?.mark ?? 0);
  const text = textToShow(bytes, label);
  return text === undefined ? undefined : Buffer.from(text);
}

/** Says what a file is instead of text in UTF-8. */
export function unknownEncoding(bytes: Buffer, path: string, size = bytes.length): ToolcribError {
  const likely = likelyEncodings(bytes);
  if (likely.length === 0)
    return new ToolcribError(
      'ENCODING',
      `${path}: is ${binaryKind(bytes) ?? 'binary data'}, ${size.toLocaleString('en')} bytes, and not text.`,
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
  if (binaryKind(head) || controls.length > head.length / 20) return [];
  const first = bytes.findIndex((byte) => byte >= 0x80);
  const sample = bytes.subarray(Math.max(0, first), Math.max(0, first) + 8192);
  const others = sample.toString('latin1');
  const pairs = others.match(/[\x80-\xff]{2}/g)?.length ?? 0;
  const alone = others.match(/(?<![\x80-\xff])[\x80-\xff](?![\x80-\xff])/g)?.length ?? 0;
  // In western texts letters with accents stand alone; elsewhere nearly all letters are not ASCII.
  if (alone >= pairs) return [systemEncoding()];
  return ['gbk', 'shift_jis', 'euc-jp', 'euc-kr', 'big5', 'windows-1251'].filter((label) =>
    fits(sample, label),
  );
}

const signatures: readonly [signature: string, what: string][] = [
  ['7f454c46', 'an ELF program'],
  ['4d5a', 'a Windows program'],
  ['25504446', 'a PDF document'],
  ['504b0304', 'a ZIP archive (also docx, xlsx, jar)'],
  ['1f8b', 'gzip data'],
  ['53514c69746520666f726d6174203300', 'an SQLite database'],
];

/** What a binary file is, by its first bytes; undefined when they do not tell. */
export function binaryKind(head: Buffer): string | undefined {
  const start = head.toString('hex', 0, 16);
  return signatures.find(([signature]) => start.startsWith(signature))?.[1];
}
