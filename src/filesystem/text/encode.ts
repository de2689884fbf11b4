import { ToolcribError } from '../../core/errors.ts';
import { namedEncoding } from './encoding-name.ts';
import { encodingIn, encodingToShow, markOf, shownText, type Encoding } from './encoding.ts';

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
  if (label === 'utf-16le') return Buffer.from(text, 'utf16le');
  if (label === 'utf-16be') return Buffer.from(text, 'utf16le').swap16();
  if (!/[^\x00-\x7f]/.test(text)) return Buffer.from(text, 'latin1');
  const { default: iconv } = await import('iconv-lite');
  const encoded = iconv.encode(text, label);
  if (shownText(encoded, label) === text) return encoded;
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
 * endings are kept, unless an encoding is named. Throws what encodeExactly() throws, and ARG_INVALID for a name that is
 * not known.
 */
export async function encodeText(text: string, like?: Buffer, name?: string): Promise<EncodedText> {
  const notes: string[] = [];
  const { label, mark } = encodingLike(like, name, notes);
  const marked = mark || (text.startsWith('\ufeff') && markOf(label).length > 0);
  let body = marked && text.startsWith('\ufeff') ? text.slice(1) : text;
  if (like && body.includes('\n') && !body.includes('\r') && endsLinesWithCrlf(like, label)) {
    body = body.replaceAll('\n', '\r\n');
    notes.push('lines end with CRLF, as in the file before');
  }
  const encoded = await encodeExactly(body, label, 'content');
  return { bytes: marked ? Buffer.concat([markOf(label), encoded]) : encoded, encoding: label, notes };
}

/** Whether all lines that end, and at least one, end with CRLF. */
function endsLinesWithCrlf(bytes: Buffer, label: string): boolean {
  // Most files have none, and need not be decoded to tell so.
  if (!label.startsWith('utf-16') && !bytes.includes('\r\n')) return false;
  const text = shownText(bytes, label);
  return text.includes('\r\n') && !/(?<!\r)\n/.test(text);
}

function encodingLike(like: Buffer | undefined, name: string | undefined, notes: string[]) {
  const named = name === undefined ? undefined : namedEncoding(name);
  const old = like && like.length > 0 ? encodingBefore(like, named?.label) : undefined;
  const label = named?.label ?? old?.label ?? 'utf-8';
  if (old && old.label !== label) notes.push(`was ${old.label}, now ${label}`);
  else if (label !== 'utf-8') notes.push(`encoding ${label}`);
  // Without its mark UTF-16 is recognised by hardly any program.
  const asked = named?.marked === true || (old?.label !== label && label.startsWith('utf-16'));
  const mark = old?.label === label && old.mark > 0 ? true : asked;
  if (mark) notes.push('with byte order mark');
  return { label, mark };
}

/** A name decides between encodings that cannot be told apart for certain; UTF-8 and a byte order mark can. */
function encodingBefore(like: Buffer, named: string | undefined): Encoding | undefined {
  const found = encodingToShow(like);
  if (named === undefined || !found || found.mark > 0 || found.unit === 2) return found;
  const certain = found.label === 'utf-8' || named === 'utf-8';
  return certain && like.some((byte) => byte >= 0x80) ? found : encodingIn(like, named);
}
