import { isUtf8 } from 'node:buffer';
import { ToolcribError } from '../../../core/errors.ts';
import { shownText } from '../../../machine/decode.ts';
import {
  encodingOf,
  isText,
  isWide,
  markedEncoding,
  markOf,
  namedEncoding,
  unknownEncoding,
} from './encoding.ts';

/** The text of a file, which becomes exactly its bytes again. */
export interface FileText {
  /** In UTF-8, without a byte order mark; bytes that are none stay among the others. */
  readonly body: Buffer;
  readonly label: string;
  readonly mark: Buffer;
  readonly notes: readonly string[];
}

/** What a file is to be. */
export interface NewContent {
  readonly bytes: Buffer;
  /** As TextDecoder calls it. */
  readonly encoding: string;
  readonly notes: readonly string[];
  /** How many places were replaced. */
  readonly places?: number;
}

/**
 * A whole file as text that can be edited. Throws what encodingOf() throws, and ENCODING also for what is no
 * text, and for bytes that are no characters of the encoding.
 */
export async function fileText(bytes: Buffer, path: string, name?: string): Promise<FileText> {
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

/** The bytes of a whole file for a text made of that of `file`. Throws what encodeExactly() throws. */
export const fileBytes = async (
  body: Buffer,
  { label, mark }: Pick<FileText, 'label' | 'mark'>,
  what: string,
): Promise<Buffer> =>
  behind(mark, label === 'utf-8' ? body : await encodeExactly(body.toString(), label, what));

const behind = (mark: Buffer, body: Buffer): Buffer =>
  mark.length === 0 ? body : Buffer.concat([mark, body]);

/** Throws ARG_INVALID for half of a surrogate pair, which no encoding has. */
export function refuseHalves(text: string, what: string): void {
  if (text.isWellFormed()) return;
  throw new ToolcribError(
    'ARG_INVALID',
    `${what}: has half of a surrogate pair, which is no character.`,
    'Give the whole character, or an escape of the language.',
  );
}

/**
 * The bytes of a text, such that reading them again gives the same text. Throws ENCODING with what is
 * lacking.
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
 * A text as the content of a whole file. Of the file that it replaces, `like`, encoding, byte order mark and
 * line endings are kept, unless an encoding is named. Throws ENCODING with a character that the encoding
 * lacks and for a file whose encoding has to be named, and ARG_INVALID for a name that is not known and for
 * halves of characters.
 */
export async function encodeText(
  text: string,
  like: Buffer = Buffer.alloc(0),
  name?: string,
): Promise<NewContent> {
  refuseHalves(text, 'content');
  const named = name === undefined ? undefined : namedEncoding(name);
  const label = named?.label ?? encodingOf(like, 'The file that is there').label;
  const was = markedEncoding(like)?.label;
  const isOther = was ? was !== label : label === 'utf-8' && !isUtf8(like);
  const notes = isOther
    ? [`was ${was ?? 'another encoding'}, now ${label}`]
    : label === 'utf-8'
      ? []
      : [`encoding ${label}`];
  // Without its mark UTF-16 is recognised by hardly any program.
  const isNewWide = isWide(label) && (like.length === 0 || isOther);
  const hasMark = text.startsWith('\ufeff');
  const mark = was === label || isNewWide || named?.marked || hasMark ? markOf(label) : Buffer.alloc(0);
  if (mark.length > 0 && !hasMark) notes.push('with byte order mark');
  let body = mark.length > 0 ? text.replace(/^\ufeff/, '') : text;
  if (body.includes('\n') && !body.includes('\r') && endsLinesWithCrlf(like, label)) {
    body = body.replaceAll('\n', '\r\n');
    notes.push('lines end with CRLF, as in the file before');
  }
  return { bytes: behind(mark, await encodeExactly(body, label, 'content')), encoding: label, notes };
}

/** Whether all lines that end, and at least one, end with CRLF. */
function endsLinesWithCrlf(bytes: Buffer, label: string): boolean {
  // Most files have none, and need not be decoded to tell so.
  if (!isWide(label) && !bytes.includes('\r\n')) return false;
  const text = shownText(bytes, label);
  return text.includes('\r\n') && !/(?<!\r)\n/.test(text);
}
