import { toUSVString } from 'node:util';
import { ToolcribError } from '../../core/errors.ts';
import { asWindows1252 } from '../../machine/windows-1252.ts';
import { multiByte } from './encoding-name.ts';
import type { Encoding } from './text-file.ts';

const isAscii = (text: string): boolean => !/[^\x00-\x7f]/.test(text);

/**
 * The bytes of a text, such that reading them again gives the same text. `what` names the text in errors. Throws
 * ENCODING with the character the encoding lacks, ARG_INVALID for half of a surrogate pair, which no encoding has.
 */
export async function encodeExactly(text: string, label: string, what: string): Promise<Buffer> {
  if (toUSVString(text) !== text)
    throw new ToolcribError(
      'ARG_INVALID',
      `${what}: has half of a surrogate pair, which is no character.`,
      'Give the whole character, or an escape of the language.',
    );
  if (label === 'utf-8') return Buffer.from(text);
  if (label === 'utf-16le') return Buffer.from(text, 'utf16le');
  if (label === 'utf-16be') return Buffer.from(text, 'utf16le').swap16();
  if (isAscii(text)) return Buffer.from(text, 'latin1');
  const { default: iconv } = await import('iconv-lite');
  const encoded = iconv.encode(text, label);
  if (shownText(encoded, label) === text) return encoded;
  const survives = (piece: string) => shownText(iconv.encode(piece, label), label) === piece;
  throw lacking([...new Set(text)].find((character) => !survives(character)) ?? text, label, what);
}

function lacking(character: string, label: string, what: string): ToolcribError {
  const number = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
  return new ToolcribError(
    'ENCODING',
    `${what}: “${character.slice(0, 20)}” (U+${number}) does not exist in ${label}, the encoding of the file.`,
    'Write it with characters the encoding has, or convert the file first: write_file with encoding "utf-8".',
  );
}

/** The text of bytes, with U+FFFD for what is no character. */
export function shownText(bytes: Buffer, label: string): string {
  if (label === 'utf-8') return bytes.toString();
  const text = new TextDecoder(label).decode(bytes);
  return label === 'windows-1252' ? asWindows1252(text) : text;
}

/**
 * Whether a character begins at a byte, asked for ascending bytes of a text that is known to be valid. The second byte
 * of a character can look like a character of its own, except for a line feed, from which the walk can begin.
 */
export function characterStarts(bytes: Buffer, { label, unit }: Encoding): (at: number) => boolean {
  if (unit === 2) return (at) => at % 2 === 0;
  if (!multiByte.has(label)) return () => true;
  let walked = 0;
  return (at) => {
    // Never back beyond what has been walked: in one long line that would be the beginning, for every hit.
    const feed = at > walked ? bytes.subarray(walked, at).lastIndexOf(0x0a) : -1;
    if (feed !== -1) walked += feed + 1;
    while (walked < at) walked += characterLength(bytes, walked, label);
    return walked === at;
  };
}

/** Bytes of a character by its first ones; ranges as in https://encoding.spec.whatwg.org, sections 10 to 14. */
function characterLength(bytes: Buffer, at: number, label: string): number {
  const byte = bytes[at] ?? 0;
  if (byte <= 0x80 || byte === 0xff) return 1;
  if (label === 'shift_jis') return byte >= 0xa0 && byte <= 0xdf ? 1 : 2;
  if (label === 'euc-jp') return byte === 0x8f ? 3 : byte === 0x8e || byte >= 0xa1 ? 2 : 1;
  const next = bytes[at + 1] ?? 0;
  return label === 'gb18030' && next >= 0x30 && next <= 0x39 ? 4 : 2;
}

const beginsUtf8 = (bytes: Buffer) => (at: number) => ((bytes[at] ?? 0) & 0xc0) !== 0x80;

/** Some bytes of a text, without the halves of characters at both ends. */
export function wholeCharacters(bytes: Buffer, from: number, to: number, encoding: Encoding): Buffer {
  const begins = encoding.label === 'utf-8' ? beginsUtf8(bytes) : characterStarts(bytes, encoding);
  let start = from;
  while (start < to && !begins(start)) start++;
  let end = Math.min(to, bytes.length);
  while (end < bytes.length && !begins(end)) end++;
  return bytes.subarray(start, end);
}
