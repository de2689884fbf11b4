import { stripVTControlCharacters } from 'node:util';

// Also what reorders, line ends that only some see, and what nobody sees and a model reads: tags, fillers.
// Joiners and variation selectors are parts of emoji and of letters.
const control = String.raw`\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069`;
const ignorable = String.raw`(?![\u200c\u200d\p{Variation_Selector}])\p{Default_Ignorable_Code_Point}`;
const controls = new RegExp(`[${control}]|${ignorable}`, 'gu');
const suspicious = new RegExp(String.raw`[${control}\p{Default_Ignorable_Code_Point}\p{Surrogate}]`, 'u');

/**
 * Text of a model, a tool, a server or a file, made safe for a terminal: no escape sequence, no control but
 * tab and line feed (CRLF becomes a line feed), nothing that reorders. Joined emoji stay as they are.
 */
export function printable(text: string): string {
  if (!suspicious.test(text)) return text;
  // Halves first: what stood between them must not join them.
  return stripVTControlCharacters(text.toWellFormed()).replace(controls, '');
}

/** The styles of our own paint; others can hide text. */
const styles = /(\u001b\[(?:[1-49]|2[2-49]|3[0-79]|9[0-7])m)/;

/**
 * Keeps what may go to a terminal at all: printable text and our own styles. Its last gate, whoever forgot to
 * clean.
 */
export const painted = (text: string): string =>
  text
    .split(styles)
    .map((part, at) => (at % 2 === 0 ? printable(part) : part))
    .join('');

/** `printable` for text that comes in chunks: what may go on in the next one is held until it is whole. */
export function createPrintable(): { push(chunk: string): string; end(): string } {
  let held = '';
  const take = (text: string, kept: string) => {
    held = kept;
    return printable(text.slice(0, text.length - kept.length));
  };
  return {
    push(chunk) {
      const text = held + chunk;
      return take(text, /(?:\u001b[^\u0007\n\u001b]{0,100}|[\ud800-\udbff])$/.exec(text)?.[0] ?? '');
    },
    end: () => take(held, ''),
  };
}

/**
 * Everything that is not seen, or not seen as what it is: controls, format characters, unusual spaces,
 * halves.
 */
const unseen = /(?![\n\t ])[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800\u{16fe4}\u{1d159}]/gu;

/** Text of which nothing hides: what is not seen is spelled out, as `\x1b` or `\u202e`. */
export const escaped = (text: string): string =>
  text.replace(unseen, (char) => {
    const code = char.codePointAt(0) ?? 0;
    if (code < 0x100) return `\\x${code.toString(16).padStart(2, '0')}`;
    return code < 0x10000 ? `\\u${code.toString(16).padStart(4, '0')}` : `\\u{${code.toString(16)}}`;
  });

/** A value as a line of JSON, of which nothing hides and nothing commands; it is read as the same value. */
export const jsonLine = (value: object): string =>
  `${JSON.stringify(value).replace(unseen, (char) => char.replaceAll(/[^]/g, unitByNumber))}\n`;

const unitByNumber = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** Untrusted words within a line of ours: on one line, nothing hides, not too long. */
export function inLine(text: string, most = 300): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return escaped(line.length <= most ? line : `${line.slice(0, most)}…`);
}

const styling = /\u001b\[[0-9;]*m/g;
/** The characters that are drawn two columns wide: emoji, and the scripts and signs of East Asia. */
const wide = new RegExp(
  [
    String.raw`\p{Emoji_Presentation}|\p{Regional_Indicator}{2}|\p{Emoji}\ufe0f`,
    String.raw`\p{sc=Han}|\p{sc=Hangul}|\p{sc=Hiragana}|\p{sc=Katakana}`,
    String.raw`[\u3000-\u303e\uff01-\uff60\uffe0-\uffe6]`,
  ].join('|'),
  'u',
);
/**
 * One column each: Latin, its punctuation, arrows and lines. The patterns for all others take 17 ms to make.
 */
const plain = /^[ -~\u00a0-\u00ac\u00ae-\u02ff\u2010-\u2027\u2030-\u205e\u2190-\u21ff\u2500-\u257f]*$/;
/** The characters that are not drawn at all when they stand alone. */
const nothing = /^[\p{Mn}\p{Me}\p{Cc}\p{Cf}]+$/u;

export const bare = (text: string): string => (text.includes('\u001b') ? text.replace(styling, '') : text);

const cellsOf = (grapheme: string): number => (wide.test(grapheme) ? 2 : nothing.test(grapheme) ? 0 : 1);

const graphemes = (text: string): Intl.Segments =>
  new Intl.Segmenter(undefined, { granularity: 'grapheme' }).segment(text);

/** The columns that a terminal needs for a line of text; its styling needs none. */
export function cells(text: string): number {
  const line = bare(text);
  if (plain.test(line)) return line.length;
  let sum = 0;
  for (const { segment } of graphemes(line)) sum += cellsOf(segment);
  return sum;
}

/** The beginning of unstyled text that fits; characters are never halved, and there is at least one. */
function fitting(text: string, most: number): string {
  let sum = 0;
  let end = 0;
  // Sixteen code units a column are more than any emoji has; the rest of a long text is not looked at.
  for (const { segment } of graphemes(text.slice(0, most * 16))) {
    sum += cellsOf(segment);
    if (sum > most && end > 0) break;
    end += segment.length;
  }
  return text.slice(0, end);
}

/** Unstyled text of one line in at most `most` columns: what was cut off is stood for by `…`. */
export function cutToCells(text: string, most: number): string {
  if (text.length <= most * 16 && cells(text) <= most) return text;
  return most < 2 ? '…'.repeat(Math.max(0, most)) : `${fitting(text, most - 1)}…`;
}

/** Unstyled text with blanks in its words that are longer than `most` columns. */
export const withBreaks = (text: string, most: number): string =>
  text.replaceAll(/\S+/g, (word) => {
    const parts: string[] = [];
    let rest = word;
    while (cells(rest) > most) {
      parts.push(fitting(rest, most));
      rest = rest.slice(parts.at(-1)?.length);
    }
    return [...parts, rest].join(' ').trimEnd();
  });

export const padToCells = (text: string, most: number): string =>
  text + ' '.repeat(Math.max(0, most - cells(text)));
