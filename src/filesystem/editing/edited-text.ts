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

/** Characters of a text whose lines end with LF. */
export interface Place {
  readonly from: number;
  readonly to: number;
}

export const withLf = (text: string): string => text.replaceAll('\r\n', '\n');

/** The number of the line that a position is in, from 1. */
export function lineAt(text: string, at: number): number {
  // Of the part only: the next line feed may be far behind it.
  const part = text.slice(0, at);
  let line = 1;
  for (let feed = part.indexOf('\n'); feed !== -1; feed = part.indexOf('\n', feed + 1)) line++;
  return line;
}

/** Up to ten lines that places are in, for people. */
export function linesOf(text: string, places: readonly Place[]): string {
  const lines = new Set<number>();
  let [at, line] = [0, 1];
  for (const { from } of places) {
    line += lineAt(text.slice(at, from), from - at) - 1;
    at = from;
    lines.add(line);
    if (lines.size > 10) break;
  }
  const shown = [...lines].slice(0, 10).join(', ');
  return `line${lines.size === 1 ? '' : 's'} ${shown}${lines.size > 10 ? ', …' : ''}`;
}

/**
 * A text with something else at some ascending places, which count an end of a line as one character. Lines that stay
 * keep their ending, new ones have that of those whose place they take.
 */
export function replaceAt(whole: string, places: readonly Place[], fresh: string): string {
  const positionIn = positions(whole, '\r\n', 1);
  const feedBehind = positions(whole, '\n', 0);
  const first = whole.indexOf('\n');
  const hasCrlf = whole.includes('\r\n');
  const pieces: string[] = [];
  let at = 0;
  for (const { from, to } of places) {
    const begin = positionIn(from).position;
    const end = positionIn(to).position;
    const { next } = hasCrlf ? feedBehind(end) : { next: first };
    const isCrlf = whole[(next === -1 ? first : next) - 1] === '\r';
    pieces.push(whole.slice(at, begin), withEndings(whole.slice(begin, end), fresh, isCrlf ? '\r\n' : '\n'));
    at = end;
  }
  return pieces.join('') + whole.slice(at);
}

/** Goes on to ascending positions, each moved by `shift` for every sign before it, and knows where the next sign is. */
function positions(text: string, sign: string, shift: number) {
  let [moved, next] = [0, text.indexOf(sign)];
  return (at: number) => {
    for (; next !== -1 && next < at + moved; next = text.indexOf(sign, next + sign.length)) moved += shift;
    return { position: at + moved, next };
  };
}

/** Lines that take the place of others, with the endings of those; `usual` where there is none. */
function withEndings(was: string, fresh: string, usual: string): string {
  if (!fresh.includes('\n') || (usual === '\n' && !was.includes('\r\n'))) return fresh;
  const endings = was.match(/\r?\n/g) ?? [];
  const [old, lines] = [withLf(was).split('\n'), fresh.split('\n')];
  const most = Math.min(old.length, lines.length);
  let [lead, trail] = [0, 0];
  while (lead < most && old[lead] === lines[lead]) lead++;
  while (trail < most - lead && old.at(-1 - trail) === lines.at(-1 - trail)) trail++;
  let ending = endings[0] ?? usual;
  return lines.reduce((text, line, index) => {
    const isTail = index - 1 >= lines.length - trail;
    const same = isTail ? index - 1 - lines.length + old.length : index - 1;
    ending = (isTail || same < old.length - trail ? endings[same] : undefined) ?? ending;
    return text + ending + line;
  });
}
