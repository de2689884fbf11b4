import { lineAt } from '../text/line-at.ts';

/** Some text to replace. */
export interface Edit {
  readonly old: string;
  readonly new: string;
  /** Whether every place is replaced; else there has to be one. */
  readonly all?: boolean | undefined;
  /** Only whole lines are meant. */
  readonly isLines?: boolean;
  /** Lines that stand above the place, one below the other: the first place below them is meant. */
  readonly below?: readonly string[];
}

/** Bytes of a text in UTF-8 whose lines end with LF. */
export interface TextRange {
  readonly from: number;
  readonly to: number;
}

/** A text whose lines end with LF. */
export const withLf = (text: Buffer): Buffer =>
  text.includes('\r\n') ? Buffer.from(text.toString('latin1').replaceAll('\r\n', '\n'), 'latin1') : text;

/** Up to ten lines that places are in, for people. */
export function linesAt(text: Buffer, places: readonly TextRange[]): string {
  const lines = [...new Set(places.slice(0, 20).map(({ from }) => lineAt(text, from)))];
  const isMore = lines.length > 10 || places.length > 20;
  return `line${lines.length === 1 ? '' : 's'} ${lines.slice(0, 10).join(', ')}${isMore ? ', …' : ''}`;
}

/**
 * A text with something else at some ascending places, which count its line ends as one byte. Lines that are
 * the same keep their ends; new ones end like those whose place they take.
 */
export function replaced(text: Buffer, places: readonly TextRange[], fresh: string): Buffer {
  const pieces: Buffer[] = [];
  const plain = Buffer.from(fresh);
  const last = text.lastIndexOf(10);
  let [at, returns, next, feed] = [0, 0, text.indexOf('\r\n'), -1];
  const hasReturns = next !== -1;
  const inText = (position: number) => {
    for (; next !== -1 && next - returns < position; next = text.indexOf('\r\n', next + 2)) returns++;
    return position + returns;
  };
  for (const place of places) {
    const [from, to] = [inText(place.from), inText(place.to)];
    if (feed < to) feed = to > last ? last : text.indexOf(10, to);
    const usual = text[feed - 1] === 13 ? '\r\n' : '\n';
    const made = hasReturns ? Buffer.from(ended(fresh, text.toString('utf8', from, to), usual)) : plain;
    pieces.push(text.subarray(at, from), made);
    at = to;
  }
  return pieces.length === 0 ? text : Buffer.concat([...pieces, text.subarray(at)]);
}

/** How the lines of a text end that takes the place of another. */
function ended(fresh: string, was: string, usual: string): string {
  const ends = was.match(/\r?\n/g) ?? [];
  if (usual === '\n' && !was.includes('\r\n')) return fresh;
  const [old, lines] = [was.split(/\r?\n/), fresh.split('\n')];
  const { trail } = sharedEnds(old, lines);
  let last = ends[0] ?? usual;
  const pieces = lines.slice(0, -1).map((line, index) => {
    const isTail = index >= lines.length - trail;
    const same = isTail ? index - lines.length + old.length : index;
    last = (isTail || same < old.length - trail ? ends[same] : undefined) ?? last;
    return line + last;
  });
  return pieces.join('') + (lines.at(-1) ?? '');
}

/** How many of two lists are the same at their beginnings, and of the others at their ends. */
export function sharedEnds(one: ArrayLike<string>, other: ArrayLike<string>) {
  const most = Math.min(one.length, other.length);
  let [lead, trail] = [0, 0];
  while (lead < most && one[lead] === other[lead]) lead++;
  while (trail < most - lead && one[one.length - 1 - trail] === other[other.length - 1 - trail]) trail++;
  return { lead, trail };
}
