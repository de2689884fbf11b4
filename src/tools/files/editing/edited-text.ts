import { lineAt } from '../text/line-at.ts';

/** An edit: a text to find, and the text that replaces it. */
export interface Edit {
  readonly old: string;
  readonly new: string;
  /** Every place is replaced; without it, there has to be exactly one. */
  readonly all?: boolean | undefined;
  /** The text has to be whole lines. */
  readonly isLines?: boolean;
  /** Lines above the place, in their order; the first place below them is meant. */
  readonly below?: readonly string[];
}

/** A range of bytes of a text in UTF-8 whose lines end with LF. */
export interface TextRange {
  readonly from: number;
  readonly to: number;
}

/** A text with LF in place of CRLF. */
export const normalizeLineEnds = (text: Buffer): Buffer =>
  text.includes('\r\n') ? Buffer.from(text.toString('latin1').replaceAll('\r\n', '\n'), 'latin1') : text;

/** Formats the lines that places are in, up to ten of them: `lines 3, 17`. */
export function formatLineNumbers(text: Buffer, places: readonly TextRange[]): string {
  const lines = [...new Set(places.slice(0, 20).map(({ from }) => lineAt(text, from)))];
  const isMore = lines.length > 10 || places.length > 20;
  return `line${lines.length === 1 ? '' : 's'} ${lines.slice(0, 10).join(', ')}${isMore ? ', …' : ''}`;
}

/**
 * Replaces ascending ranges of a text, which count each of its line ends as one byte. Unchanged lines keep
 * their line ends; new ones get those of the lines that they replace.
 */
export function replaceRanges(text: Buffer, ranges: readonly TextRange[], replacement: string): Buffer {
  const pieces: Buffer[] = [];
  const plain = Buffer.from(replacement);
  const lastFeed = text.lastIndexOf(10);
  let at = 0;
  let feed = -1;
  let nextReturn = text.indexOf('\r\n');
  let returns = 0;
  const hasReturns = nextReturn !== -1;
  // The position in the text itself, in which a CRLF counts as two bytes.
  const positionInText = (position: number) => {
    while (nextReturn !== -1 && nextReturn - returns < position) {
      returns += 1;
      nextReturn = text.indexOf('\r\n', nextReturn + 2);
    }
    return position + returns;
  };
  for (const range of ranges) {
    const from = positionInText(range.from);
    const to = positionInText(range.to);
    if (feed < to) feed = to > lastFeed ? lastFeed : text.indexOf(10, to);
    const usualEnd = text[feed - 1] === 13 ? '\r\n' : '\n';
    const piece = hasReturns
      ? Buffer.from(keepLineEnds(replacement, text.toString('utf8', from, to), usualEnd))
      : plain;
    pieces.push(text.subarray(at, from), piece);
    at = to;
  }
  return pieces.length === 0 ? text : Buffer.concat([...pieces, text.subarray(at)]);
}

/**
 * A text with the line ends of the one that it replaces; `usualEnd` for lines that this one does not have.
 */
function keepLineEnds(replacement: string, replaced: string, usualEnd: string): string {
  const ends = replaced.match(/\r?\n/g) ?? [];
  if (usualEnd === '\n' && !replaced.includes('\r\n')) return replacement;
  const [old, lines] = [replaced.split(/\r?\n/), replacement.split('\n')];
  const { trail } = sharedEnds(old, lines);
  let end = ends[0] ?? usualEnd;
  let text = '';
  for (const [index, line] of lines.slice(0, -1).entries()) {
    const isTail = index >= lines.length - trail;
    const oldIndex = isTail ? index - lines.length + old.length : index;
    const oldEnd = isTail || oldIndex < old.length - trail ? ends[oldIndex] : undefined;
    if (oldEnd !== undefined) end = oldEnd;
    text += line + end;
  }
  return text + (lines.at(-1) ?? '');
}

/** Counts the equal members at the beginnings of two lists, and of the rest those at their ends. */
export function sharedEnds(
  a: ArrayLike<string>,
  b: ArrayLike<string>,
): { readonly lead: number; readonly trail: number } {
  const most = Math.min(a.length, b.length);
  let lead = 0;
  let trail = 0;
  while (lead < most && a[lead] === b[lead]) lead++;
  while (trail < most - lead && a[a.length - 1 - trail] === b[b.length - 1 - trail]) trail++;
  return { lead, trail };
}
