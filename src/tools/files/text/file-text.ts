import { isUtf8 } from 'node:buffer';
import { ToolcribError } from '../../../core/errors.ts';
import { shownText } from '../../../machine/decode.ts';
import {
  encodingOf,
  isText,
  isWide,
  encodingByMark,
  byteOrderMarkOf,
  resolveEncoding,
  unknownEncoding,
} from './encoding.ts';

/** The text of a file, from which exactly its bytes can be made again. */
export interface FileText {
  /** The text in UTF-8 without a byte order mark; broken bytes stay in it as they are. */
  readonly body: Buffer;
  readonly label: string;
  readonly mark: Buffer;
  readonly notes: readonly string[];
}

/** The new content of a file. */
export interface NewContent {
  readonly bytes: Buffer;
  /** The encoding, by the name that TextDecoder has for it. */
  readonly encoding: string;
  readonly notes: readonly string[];
  /** The number of places that were replaced. */
  readonly places?: number;
}

/**
 * Decodes a whole file to text that can be edited. Throws what encodingOf() throws, and ENCODING for a file
 * that is not text or has bytes that are not characters of its encoding.
 */
export async function decodeFile(bytes: Buffer, path: string, name?: string): Promise<FileText> {
  const { label, mark } = encodingOf(bytes, path, name);
  const body = bytes.subarray(mark);
  const facts = { label, mark: bytes.subarray(0, mark) };
  const isUtf = label === 'utf-8';
  if (isUtf && isUtf8(body)) return { ...facts, body, notes: [] };
  if (!isWide(label) && bytes.includes(0) && !isText(bytes)) throw unknownEncoding(bytes, path);
  if (isUtf) return { ...facts, body, notes: ['not all of it is UTF-8; the rest stays as it is'] };
  const text = shownText(body, label);
  const { default: iconv } = await import('iconv-lite');
  if (!iconv.encode(text, label).equals(body))
    throw new ToolcribError(
      'ENCODING',
      `${path}: is not text in ${label}: some of its bytes are no characters there.`,
      'Name its real encoding, or have it repaired first.',
    );
  return { ...facts, body: Buffer.from(text), notes: [`encoding ${label}`] };
}

/** Encodes an edited text like the file that it comes from. Throws what encodeExactly() throws. */
export const encodeFile = async (
  body: Buffer,
  { label, mark }: Pick<FileText, 'label' | 'mark'>,
  what: string,
): Promise<Buffer> =>
  withMark(mark, label === 'utf-8' ? body : await encodeExactly(body.toString(), label, what));

const withMark = (mark: Buffer, body: Buffer): Buffer =>
  mark.length === 0 ? body : Buffer.concat([mark, body]);

/** Throws ARG_INVALID for half of a surrogate pair, which no encoding can represent. */
export function refuseHalves(text: string, what: string): void {
  if (text.isWellFormed()) return;
  throw new ToolcribError(
    'ARG_INVALID',
    `${what}: has half of a surrogate pair, which is no character.`,
    'Give the whole character, or an escape of the language.',
  );
}

/**
 * Encodes a text so that decoding gives the same text again. Throws ENCODING with a character that the
 * encoding lacks.
 */
async function encodeExactly(text: string, label: string, what: string): Promise<Buffer> {
  if (label === 'utf-8') return Buffer.from(text);
  const { default: iconv } = await import('iconv-lite');
  const encoded = iconv.encode(text, label);
  if (isWide(label) || shownText(encoded, label) === text) return encoded;
  const survives = (piece: string) => shownText(iconv.encode(piece, label), label) === piece;
  const lacking = [...new Set(text)].find((character) => !survives(character)) ?? text.slice(0, 20);
  const number = (lacking.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
  throw new ToolcribError(
    'ENCODING',
    `${what}: “${lacking}” (U+${number}) does not exist in ${label}, the encoding of the file.`,
    'Write it with characters the encoding has, or convert the file first: write_file with encoding "utf-8".',
  );
}

/**
 * Encodes a text as the content of a whole file. The file that it replaces, `like`, gives encoding, byte
 * order mark and line ends, unless an encoding is named. Throws ENCODING with a character that the encoding
 * lacks and for a file whose encoding has to be named, and ARG_INVALID for an unknown name and for halves of
 * characters.
 */
export async function encodeText(
  text: string,
  like: Buffer = Buffer.alloc(0),
  name?: string,
): Promise<NewContent> {
  refuseHalves(text, 'content');
  const named = name === undefined ? undefined : resolveEncoding(name);
  const label = named?.label ?? encodingOf(like, 'The file that is there').label;
  const marked = encodingByMark(like)?.label;
  const isOther = marked ? marked !== label : label === 'utf-8' && !isUtf8(like);
  const notes: string[] = [];
  if (isOther) notes.push(`was ${marked ?? 'another encoding'}, now ${label}`);
  else if (label !== 'utf-8') notes.push(`encoding ${label}`);
  // Hardly any program recognises UTF-16 without its mark.
  const isNewWide = isWide(label) && (like.length === 0 || isOther);
  const hasMark = text.startsWith('\ufeff');
  const mark =
    marked === label || isNewWide || named?.marked || hasMark ? byteOrderMarkOf(label) : Buffer.alloc(0);
  if (mark.length > 0 && !hasMark) notes.push('with byte order mark');
  let body = mark.length > 0 ? text.replace(/^\ufeff/, '') : text;
  if (body.includes('\n') && !body.includes('\r') && endsLinesWithCrlf(like, label)) {
    body = body.replaceAll('\n', '\r\n');
    notes.push('lines end with CRLF, as in the file before');
  }
  return { bytes: withMark(mark, await encodeExactly(body, label, 'content')), encoding: label, notes };
}

/** Says whether a text has line ends, and all of them are CRLF. */
function endsLinesWithCrlf(bytes: Buffer, label: string): boolean {
  // Most files have none, which can be seen without decoding them.
  if (!isWide(label) && !bytes.includes('\r\n')) return false;
  const text = shownText(bytes, label);
  return text.includes('\r\n') && !/(?<!\r)\n/.test(text);
}
