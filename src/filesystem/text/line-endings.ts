import { encodingIn, nextLine, type Encoding } from './text-file.ts';

/** A text whose lines all end with a line feed alone, and where its bytes were before. */
export interface Unified {
  readonly bytes: Buffer;
  /** Where a byte of the unified text is in the text as it was. */
  readonly original: (at: number) => number;
}

const lineFeed = 0x0a;
const carriageReturn = 0x0d;

/** The byte of a UTF-16 unit that is not zero for ASCII, from its first one. */
const offset = ({ label }: Encoding): number => (label === 'utf-16be' ? 1 : 0);

/** Whether a unit of the text is that control character. */
function isUnit(bytes: Buffer, at: number, control: number, encoding: Encoding): boolean {
  if (encoding.unit === 1) return bytes[at] === control;
  const high = offset(encoding);
  return bytes[at + high] === control && bytes[at + 1 - high] === 0;
}

/** Where the first unit is that control character, from a byte on; -1 when there is none. */
function indexOfUnit(bytes: Buffer, from: number, control: number, encoding: Encoding): number {
  for (let at = bytes.indexOf(control, from); at !== -1; at = bytes.indexOf(control, at + 1)) {
    const start = encoding.unit === 1 ? at : at & ~1;
    if (isUnit(bytes, start, control, encoding)) return start;
  }
  return -1;
}

/** Where the line that `at` is in begins; `at` itself when a line begins there. */
export function lineStart(bytes: Buffer, at: number, encoding: Encoding): number {
  if (at === 0) return 0;
  if (encoding.unit === 1) return bytes.lastIndexOf(lineFeed, at - 1) + 1;
  let start = at;
  while (!isLineStart(bytes, start, encoding)) start -= 2;
  return start;
}

/** Whether a line begins at a byte, or the text ends there after a whole line. */
export const isLineStart = (bytes: Buffer, at: number, encoding: Encoding): boolean =>
  at <= 0 || isUnit(bytes, at - encoding.unit, lineFeed, encoding);

/** Whether lines end with a carriage return alone, as on old Macs: then the text has no line feed at all. */
export const hasMacLines = (bytes: Buffer, encoding: Encoding): boolean =>
  nextLine(bytes, encoding.mark, encoding) === -1 && indexOfUnit(bytes, 0, carriageReturn, encoding) !== -1;

/** Whether there is a carriage return at all; without one, a line feed can only mean itself. */
export const hasReturns = (bytes: Buffer, encoding: Encoding): boolean =>
  indexOfUnit(bytes, 0, carriageReturn, encoding) !== -1;

/** Whether all lines that end, and at least one, end with CRLF. */
export function endsLinesWithCrlf(bytes: Buffer, label: string): boolean {
  const encoding = encodingIn(bytes, label);
  const { unit, mark } = encoding;
  let lines = 0;
  for (let at = nextLine(bytes, mark, encoding); at !== -1; at = nextLine(bytes, at, encoding)) {
    if (at < 2 * unit || !isUnit(bytes, at - 2 * unit, carriageReturn, encoding)) return false;
    lines++;
  }
  return lines > 0;
}

/** The text with LF for CRLF, or for CR where lines end with that. */
export function withUnifiedLines(bytes: Buffer, encoding: Encoding): Unified {
  const { unit } = encoding;
  const unified = Buffer.allocUnsafe(bytes.length);
  if (hasMacLines(bytes, encoding)) {
    bytes.copy(unified);
    for (let at = indexOfUnit(bytes, 0, carriageReturn, encoding); at !== -1;) {
      unified[at + offset(encoding)] = lineFeed;
      at = indexOfUnit(bytes, at + unit, carriageReturn, encoding);
    }
    return { bytes: unified, original: (at) => at };
  }
  /** Where in the unified text a carriage return was left out. */
  const left: number[] = [];
  let length = 0;
  let copied = 0;
  for (let at = indexOfUnit(bytes, 0, carriageReturn, encoding); at !== -1;) {
    if (isUnit(bytes, at + unit, lineFeed, encoding)) {
      length += bytes.copy(unified, length, copied, at);
      left.push(length);
      copied = at + unit;
    }
    at = indexOfUnit(bytes, at + unit, carriageReturn, encoding);
  }
  length += bytes.copy(unified, length, copied);
  return {
    bytes: unified.subarray(0, length),
    original: (at) => at + unit * countBelow(left, at),
  };
}

/** How many of ascending numbers are below a limit. */
function countBelow(numbers: readonly number[], limit: number): number {
  let [from, to] = [0, numbers.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((numbers[middle] ?? 0) < limit) from = middle + 1;
    else to = middle;
  }
  return from;
}

/** The ending of each line that ends within some bytes of a text. */
export function endingsIn(bytes: Buffer, encoding: Encoding, mac: boolean): string[] {
  const text = encoding.unit === 1 ? bytes.toString('latin1') : new TextDecoder(encoding.label).decode(bytes);
  return text.match(mac ? /\r/g : /\r?\n/g) ?? [];
}
