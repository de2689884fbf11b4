import { decode, systemEncoding } from '../decode.ts';
import { presentable } from '../presentable.ts';
import type { LineRun } from './line-runs.ts';

/** What a progress bar writes over itself with, shown so that one line stays one line. */
const carriageReturn = '␍';

/** The lines of a run, decoded and harmless, without line ends; the first may be known to be another text. */
export function textsOf(run: LineRun, first: string | undefined): string[] {
  const { starts, bytes, offset } = run;
  const from = first === undefined ? (starts[0] ?? offset) : (starts[1] ?? offset + bytes.length);
  const count = starts.length - (first === undefined ? 0 : 1);
  const rest = count === 0 ? [] : harmlessLines(decode(bytes.subarray(from - offset)).slice(0, -1), count);
  return first === undefined ? rest : [first, ...rest];
}

/** All at once, which is faster; one by one where that would take line ends out. */
function harmlessLines(decoded: string, count: number): string[] {
  const together = harmless(decoded).split('\n');
  return together.length === count ? together : decoded.split('\n').map(harmlessLine);
}

/** The text of one line, or of a part of one, made harmless. */
export const harmlessLine = (text: string): string => harmless(text).replaceAll('\n', carriageReturn);

const harmless = (text: string): string =>
  presentable(text.replaceAll(/\r+(?=\n|$)/g, '').replaceAll('\r', carriageReturn));

/** The characters that lie wholly within some bytes, and how many bytes of them there are. */
export interface Characters {
  readonly text: string;
  /** Where they begin and end in the bytes. */
  readonly from: number;
  readonly to: number;
}

/** Less than so many bytes are given up at the end of a part, so that it does not end within a word. */
const longestWord = 1024;
/** A blank, a quote, a bracket or a comma: no byte of a longer character in any encoding of programs. */
const isGap = (byte: number): boolean => ' \t"\'(),;<>'.includes(String.fromCharCode(byte));

/** The bytes of a part up to a gap between words near its end: half a secret is recognised by nobody. */
export function wholeWords(bytes: Buffer): Buffer {
  const near = bytes.length - Math.min(longestWord, Math.floor(bytes.length / 2));
  const last = bytes.subarray(near).findLastIndex(isGap);
  return last < 0 ? bytes : bytes.subarray(0, near + last + 1);
}

/** Cuts off the halves of characters at the ends of bytes that were taken out of a line, where `atStart` or `atEnd` are false. */
export function wholeCharacters(bytes: Buffer, atStart: boolean, atEnd: boolean): Characters {
  const from = atStart ? 0 : continuationsAt(bytes);
  const to = atEnd ? bytes.length : bytes.length - unfinishedAt(bytes);
  const utf8 = strictly('utf-8', bytes.subarray(from, to));
  if (utf8 !== undefined) return { text: utf8, from, to };
  return inCodePage(bytes, atStart, atEnd);
}

/** The system's code page has characters of one or two bytes; what begins with the half of one decodes badly. */
function inCodePage(bytes: Buffer, atStart: boolean, atEnd: boolean): Characters {
  const label = systemEncoding();
  for (const cut of atEnd ? [0] : [0, 1])
    for (const from of atStart ? [0] : [0, 1]) {
      const to = bytes.length - cut;
      if (strictly(label, bytes.subarray(from, to)) !== undefined)
        return { text: decode(bytes.subarray(from, to)), from, to };
    }
  return { text: decode(bytes), from: 0, to: bytes.length };
}

function strictly(label: string, bytes: Buffer): string | undefined {
  try {
    return new TextDecoder(label, { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** UTF-8 has at most three bytes after the first of a character. */
function continuationsAt(bytes: Buffer): number {
  let count = 0;
  while (count < Math.min(3, bytes.length) && ((bytes[count] ?? 0) & 0xc0) === 0x80) count++;
  return count;
}

/** How many bytes at the end are the beginning of a character that is not whole. */
function unfinishedAt(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return needed > back ? back : 0;
  }
  return 0;
}
