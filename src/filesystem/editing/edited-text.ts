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

/** A text whose lines end with LF, and how they really end; undefined where they do. */
export interface Lines {
  readonly text: string;
  readonly ends: readonly string[] | undefined;
}

export const withLf = (text: string): string => text.replaceAll('\r\n', '\n');

/** A text as it is edited. */
export const linesOf = (text: string): Lines =>
  text.includes('\r\n') ? { text: withLf(text), ends: endsIn(text) } : { text, ends: undefined };

const endsIn = (text: string): string[] => text.match(/\r?\n/g) ?? [];

/** The whole text again. */
export function joined({ text, ends }: Lines): string {
  if (!ends) return text;
  let at = 0;
  return text.replaceAll('\n', () => ends[at++] ?? '\n');
}

/** The number of the line that a position is in, from 1. */
export function lineAt(text: string, at: number): number {
  let line = 1;
  for (let feed = text.indexOf('\n'); feed !== -1 && feed < at; feed = text.indexOf('\n', feed + 1)) line++;
  return line;
}

/** Up to ten lines that places are in, for people. */
export function linesAt(text: string, places: readonly Place[]): string {
  const lines = [...new Set(places.slice(0, 20).map(({ from }) => lineAt(text, from)))];
  const isMore = lines.length > 10 || places.length > 20;
  return `line${lines.length === 1 ? '' : 's'} ${lines.slice(0, 10).join(', ')}${isMore ? ', …' : ''}`;
}

/** Lines with something else at some ascending places; new lines end like those whose place they take. */
export function replaceAt({ text, ends }: Lines, places: readonly Place[], fresh: string): Lines {
  const pieces: string[] = [];
  const kept: (readonly string[])[] = [];
  let [at, line] = [0, 0];
  for (const { from, to } of places) {
    pieces.push(text.slice(at, from), fresh);
    if (ends) {
      const begin = line + feedsIn(text.slice(at, from));
      const was = text.slice(from, to);
      const end = begin + feedsIn(was);
      const usual = ends[end] ?? ends.at(-1) ?? '\n';
      kept.push(ends.slice(line, begin), endsOf(fresh, was, ends.slice(begin, end), usual));
      line = end;
    }
    at = to;
  }
  const rest = ends && [...kept, ends.slice(line)].flat();
  return { text: pieces.join('') + text.slice(at), ends: rest };
}

/** How many of two lists are the same at their beginnings, and of the others at their ends. */
export function sharedEnds(one: readonly string[], other: readonly string[]) {
  const most = Math.min(one.length, other.length);
  let [lead, trail] = [0, 0];
  while (lead < most && one[lead] === other[lead]) lead++;
  while (trail < most - lead && one.at(-1 - trail) === other.at(-1 - trail)) trail++;
  return { lead, trail };
}

const feedsIn = (text: string): number => text.split('\n').length - 1;

/** How the lines of a text end that takes the place of another: those that are the same stay as they are. */
function endsOf(fresh: string, was: string, ends: readonly string[], usual: string): string[] {
  const [old, lines] = [was.split('\n'), fresh.split('\n')];
  const { trail } = sharedEnds(old, lines);
  let last = ends[0] ?? usual;
  return lines.slice(1).map((_, index) => {
    const isTail = index >= lines.length - trail;
    const same = isTail ? index - lines.length + old.length : index;
    last = (isTail || same < old.length - trail ? ends[same] : undefined) ?? last;
    return last;
  });
}
