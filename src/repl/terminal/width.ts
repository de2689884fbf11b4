const styling = /\u001b\[[0-9;]*m/g;
/** What is drawn two columns wide: emoji, and the scripts and signs of East Asia. */
const wide = new RegExp(
  [
    String.raw`\p{Emoji_Presentation}|\p{Regional_Indicator}{2}|\p{Emoji}\ufe0f`,
    String.raw`\p{sc=Han}|\p{sc=Hangul}|\p{sc=Hiragana}|\p{sc=Katakana}`,
    String.raw`[\u3000-\u303e\uff01-\uff60\uffe0-\uffe6]`,
  ].join('|'),
  'u',
);
/** One column each: Latin, its punctuation, arrows and lines. The patterns for all others take 17 ms to make. */
const plain = /^[ -~\u00a0-\u00ac\u00ae-\u02ff\u2010-\u2027\u2030-\u205e\u2190-\u21ff\u2500-\u257f]*$/;
/** What is not drawn at all when it stands alone. */
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
