/** What is a column each for sure: ASCII, Latin letters, our own marks. */
const narrow = /^[ -~\u00ae-\u024f•│…]*$/;
const styling = /\u001b\[[0-9;]*m/g;
/** Two regional indicators, a character with emoji presentation, or one that a variation selector makes an emoji. */
const emoji = /\p{Emoji_Presentation}|\p{Regional_Indicator}{2}|\p{Emoji}\ufe0f/u;
/** What adds nothing to the width of its grapheme: marks, controls, format characters, vowels and finals of Hangul. */
const nothing = /[\p{Mn}\p{Me}\p{Cc}\p{Cf}\u1160-\u11ff]/u;
/** East Asian Wide and Fullwidth, of Unicode 16; emoji are told by their property. */
const wide = new RegExp(
  `[${[
    String.raw`\u1100-\u115f\u2329\u232a\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f`,
    String.raw`\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6`,
    String.raw`\u{16fe0}-\u{18dff}\u{1aff0}-\u{1b2ff}\u{1d300}-\u{1d376}\u{1f200}-\u{1f265}\u{20000}-\u{3fffd}`,
  ].join('')}]`,
  'u',
);

const graphemes = (text: string): Intl.Segments =>
  new Intl.Segmenter(undefined, { granularity: 'grapheme' }).segment(text);

function cellsOf(grapheme: string): number {
  if (emoji.test(grapheme)) return 2;
  let sum = 0;
  for (const char of grapheme) if (!nothing.test(char)) sum += wide.test(char) ? 2 : 1;
  return sum;
}

/** The columns that a terminal needs for a line of text; its styling needs none. */
export function cells(text: string): number {
  const bare = text.includes('\u001b') ? text.replace(styling, '') : text;
  if (narrow.test(bare)) return bare.length;
  let sum = 0;
  for (const { segment } of graphemes(bare)) sum += cellsOf(segment);
  return sum;
}

/** The beginning of unstyled text that fits; at least one character, so that whoever goes on gets on. */
function fitting(text: string, most: number): string {
  if (narrow.test(text.slice(0, most + 1))) return text.slice(0, Math.max(1, most));
  // Sixteen code units a column are more than any emoji has; the rest of a long text is not looked at.
  const beginning = text.slice(0, most * 16).replace(/[\ud800-\udbff]$/, '');
  let sum = 0;
  let end = 0;
  for (const { segment } of graphemes(beginning)) {
    sum += cellsOf(segment);
    if (sum > most && end > 0) break;
    end += segment.length;
  }
  return text.slice(0, end);
}

/**
 * Unstyled text of one line in at most `most` columns: what was cut off is stood for by `…`. Characters are never
 * halved.
 */
export function cutToCells(text: string, most: number): string {
  if (most < 2) return text !== '' && most === 1 ? '…' : '';
  if (fitting(text, most).length === text.length && cells(text) <= most) return text;
  const kept = fitting(text, most - 1);
  return cells(kept) < most ? `${kept}…` : '…';
}

/**
 * Unstyled text in lines of at most `most` columns, broken at spaces where there are any. Loses nothing but those
 * spaces.
 */
export function wrapToCells(text: string, most: number): string[] {
  const lines: string[] = [];
  let rest = text;
  for (;;) {
    const line = fitting(rest, most);
    if (line.length >= rest.length) return [...lines, rest];
    const space = rest[line.length] === ' ' ? line.length : line.lastIndexOf(' ');
    const end = space > 0 ? space : line.length;
    lines.push(rest.slice(0, end));
    rest = rest.slice(end).replace(/^ +/, '');
    if (rest === '') return lines;
  }
}

export const padToCells = (text: string, most: number): string =>
  text + ' '.repeat(Math.max(0, most - cells(text)));
