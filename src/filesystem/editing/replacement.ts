import { changedLines } from '../diff/changed-lines.ts';
import type { Match, Place } from './find-text.ts';

/**
 * What takes the place of `old` in a text: with the line endings of the lines it stands for, or of the line that it is
 * in. Asked for ascending places.
 */
export async function replacer(text: string, match: Match): Promise<(place: Place) => string> {
  const { old, new: fresh, anyEnding } = match;
  if (!anyEnding || !fresh.includes('\n') || !text.includes('\r\n')) return () => fresh;
  const lines = fresh.split('\n');
  const standsFor = await linesStoodFor(old.split('\n'), lines);
  const endingAt = lineEndings(text);
  /** By the one ending that all lines have: for thousands of places it is made once. */
  const uniform = new Map<string, string>();
  return ({ from, to }) => {
    const endings = text.slice(from, to).match(/\r?\n/g) ?? [];
    let ending = endings[0] ?? endingAt(from);
    if (new Set(endings).size < 2) {
      // A carriage return that was given stays, and is not given twice.
      if (!uniform.has(ending)) uniform.set(ending, fresh.replaceAll(/(?<!\r)\n/g, ending));
      return uniform.get(ending) ?? fresh;
    }
    return lines
      .map((line, index) => {
        if (index === lines.length - 1) return line;
        if (line.endsWith('\r')) return `${line}\n`;
        ending = endings[standsFor[index] ?? -1] ?? ending;
        return line + ending;
      })
      .join('');
  };
}

/**
 * How the line that a position is in ends; where none ends, as the first of the text does. Asked for ascending
 * positions, it looks for the end of each line once.
 */
function lineEndings(text: string): (at: number) => string {
  const endingOf = (feed: number) => (text[feed - 1] === '\r' ? '\r\n' : '\n');
  const first = endingOf(text.indexOf('\n'));
  let [feed, ending] = [-1, first];
  return (at) => {
    if (at <= feed) return ending;
    const found = text.indexOf('\n', at);
    feed = found === -1 ? Infinity : found;
    return (ending = found === -1 ? first : endingOf(found));
  };
}

/** For each new line the old one that is the same, or that it takes the place of. */
async function linesStoodFor(
  old: readonly string[],
  now: readonly string[],
): Promise<(number | undefined)[]> {
  const stands: (number | undefined)[] = [];
  let next = 0;
  const given = now.map((line) => line.replace(/\r$/, ''));
  for (const { from, to, nowFrom, nowTo } of await changedLines(old, given)) {
    while (stands.length < nowFrom) stands.push(next++);
    for (let line = from; line < from + nowTo - nowFrom; line++) stands.push(line < to ? line : undefined);
    next = to;
  }
  while (stands.length < now.length) stands.push(next++);
  return stands;
}
