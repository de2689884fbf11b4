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

export interface Place {
  readonly from: number;
  readonly to: number;
}

export const withLf = (text: string): string => text.replaceAll('\r\n', '\n');

/** The number of the line that a position is in, from 1. */
export const lineAt = (text: string, at: number): number => 1 + feedsIn(text, 0, at);

function feedsIn(text: string, from: number, to: number): number {
  // Of the part only: the next line feed may be far behind it.
  const part = text.slice(from, to);
  let count = 0;
  for (let at = part.indexOf('\n'); at !== -1; at = part.indexOf('\n', at + 1)) count++;
  return count;
}

/** A text whose lines end with LF, and how each of them ends in the file: lines that stay keep their ending. */
export class EditedText {
  text: string;
  /** Whether each line that ends does so with CRLF; undefined where none does. */
  #crlf: boolean[] | undefined;

  constructor(whole: string) {
    this.text = withLf(whole);
    if (this.text.length === whole.length) return;
    this.#crlf = [];
    for (let at = whole.indexOf('\n'); at !== -1; at = whole.indexOf('\n', at + 1))
      this.#crlf.push(whole[at - 1] === '\r');
  }

  /** Puts a text in the place of the one that is at some ascending places. */
  replace(places: readonly Place[], fresh: string): void {
    const [first] = places;
    if (!first) return;
    const { text } = this;
    const pieces: string[] = [];
    let at = 0;
    for (const { from, to } of places) {
      pieces.push(text.slice(at, from), fresh);
      at = to;
    }
    this.text = pieces.join('') + text.slice(at);
    this.#crlf &&= this.#endingsAfter(text, places, fresh);
  }

  #endingsAfter(text: string, places: readonly Place[], fresh: string): boolean[] {
    const crlf = this.#crlf ?? [];
    const endings: boolean[] = [];
    let [at, line] = [0, 0];
    const keep = (to: number) => {
      for (let left = feedsIn(text, at, to); left > 0; left--) endings.push(crlf[line++] === true);
    };
    for (const { from, to } of places) {
      keep(from);
      const standsFor = linesStoodFor(text.slice(from, to), fresh);
      let ending = crlf[line] ?? crlf[0] === true;
      for (const old of standsFor)
        endings.push((ending = (old === undefined ? ending : crlf[line + old]) === true));
      line += feedsIn(text, from, to);
      at = to;
    }
    keep(text.length);
    return endings;
  }

  /** The text with the endings that its lines have in the file. */
  toString(): string {
    const crlf = this.#crlf;
    if (!crlf) return this.text;
    if (crlf.every(Boolean)) return this.text.replaceAll('\n', '\r\n');
    let line = 0;
    return this.text.replaceAll('\n', () => (crlf[line++] === true ? '\r\n' : '\n'));
  }
}

/** For each new line that ends the old one that is the same at the beginning or the end, or whose place it takes. */
function linesStoodFor(was: string, is: string): (number | undefined)[] {
  const [old, fresh] = [was.split('\n'), is.split('\n')];
  const most = Math.min(old.length, fresh.length);
  const added = fresh.length - old.length;
  let [lead, trail] = [0, 0];
  while (lead < most && old[lead] === fresh[lead]) lead++;
  while (trail < most - lead && old.at(-1 - trail) === fresh.at(-1 - trail)) trail++;
  const stoodFor = (line: number) => {
    if (line >= fresh.length - trail) return line - added;
    return line < old.length - trail && line < old.length - 1 ? line : undefined;
  };
  return fresh.slice(0, -1).map((_, line) => stoodFor(line));
}
