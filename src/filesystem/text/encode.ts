import { isAscii, isUtf8 } from 'node:buffer';
import { ToolcribError } from '../../core/errors.ts';
import { namedEncoding } from './encoding-name.ts';
import { encodingOf, markedEncoding, markOf, shownText } from './encoding.ts';

/**
 * The bytes of a text, such that reading them again gives the same text. `what` names the text in errors. Throws
 * ENCODING with the character the encoding lacks, ARG_INVALID for half of a surrogate pair, which no encoding has.
 */
export async function encodeExactly(text: string, label: string, what: string): Promise<Buffer> {
  if (!text.isWellFormed())
    throw new ToolcribError(
      'ARG_INVALID',
      `${what}: has half of a surrogate pair, which is no character.`,
      'Give the whole character, or an escape of the language.',
    );
  if (label === 'utf-8') return Buffer.from(text);
  const { default: iconv } = await import('iconv-lite');
  const encoded = iconv.encode(text, label);
  if (label.startsWith('utf-16') || shownText(encoded, label) === text) return encoded;
  const survives = (piece: string) => shownText(iconv.encode(piece, label), label) === piece;
  const lacking = [...new Set(text)].find((character) => !survives(character)) ?? text.slice(0, 20);
  const number = (lacking.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
  throw new ToolcribError(
    'ENCODING',
    `${what}: “${lacking}” (U+${number}) does not exist in ${label}, the encoding of the file.`,
    'Write it with characters the encoding has, or convert the file first: write_file with encoding "utf-8".',
  );
}

/** The content of a whole file. */
interface EncodedText {
  readonly bytes: Buffer;
  /** As TextDecoder calls it. */
  readonly encoding: string;
  /** What was done to the text, and is not seen in it. */
  readonly notes: readonly string[];
}

/**
 * A text as the content of a whole file. Of the file that it replaces, `like`, encoding, byte order mark and line
 * endings are kept, unless an encoding is named. Throws what encodeExactly() throws, ARG_INVALID for a name that is not
 * known, and ENCODING for a file whose encoding has to be named.
 */
export async function encodeText(
  text: string,
  like: Buffer = Buffer.alloc(0),
  name?: string,
): Promise<EncodedText> {
  const named = name === undefined ? undefined : namedEncoding(name);
  const label = named?.label ?? encodingOf(like, 'The file that is there').label;
  const notes: string[] = [];
  const was = labelBefore(like, label);
  if (was !== label) notes.push(`was ${was}, now ${label}`);
  else if (label !== 'utf-8') notes.push(`encoding ${label}`);
  const keepsMark = markedEncoding(like)?.label === label;
  // Without its mark UTF-16 is recognised by hardly any program.
  const isNewWide = label.startsWith('utf-16') && (like.length === 0 || was !== label);
  const marked = keepsMark || isNewWide || named?.marked === true || text.startsWith('\ufeff');
  const mark = marked ? markOf(label) : Buffer.alloc(0);
  if (mark.length > 0 && !text.startsWith('\ufeff')) notes.push('with byte order mark');
  let body = mark.length > 0 ? text.replace(/^\ufeff/, '') : text;
  if (body.includes('\n') && !body.includes('\r') && endsLinesWithCrlf(like, label)) {
    body = body.replaceAll('\n', '\r\n');
    notes.push('lines end with CRLF, as in the file before');
  }
  const encoded = await encodeExactly(body, label, 'content');
  return { bytes: mark.length > 0 ? Buffer.concat([mark, encoded]) : encoded, encoding: label, notes };
}

/** In what a file was that is to be in an encoding, where that is certain; else it was in the same. */
function labelBefore(bytes: Buffer, label: string): string {
  const marked = markedEncoding(bytes)?.label;
  if (marked !== undefined || isAscii(bytes)) return marked ?? label;
  if (isUtf8(bytes)) return 'utf-8';
  return label === 'utf-8' ? 'another encoding' : label;
}

/** Whether all lines that end, and at least one, end with CRLF. */
function endsLinesWithCrlf(bytes: Buffer, label: string): boolean {
  // Most files have none, and need not be decoded to tell so.
  if (!label.startsWith('utf-16') && !bytes.includes('\r\n')) return false;
  const text = shownText(bytes, label);
  return text.includes('\r\n') && !/(?<!\r)\n/.test(text);
}
