import type { Match, Place } from './find-text.ts';

/**
 * What takes the place of `old` in a text: with the line endings of the lines it stands for, or of the line that it is
 * in. Asked for ascending places.
 */
export function replacer(text: string, match: Match): (place: Place) => string {
  const { old, new: fresh, anyEnding } = match;
  if (!anyEnding || !fresh.includes('\n') || !text.includes('\r\n')) return () => fresh;
  const standsFor = linesStoodFor(old.split('\n'), fresh.split('\n'));
  const endingAt = lineEndings(text);
  return ({ from, to }) => {
    const endings = text.slice(from, to).match(/\r?\n/g) ?? [];
    let [ending, line] = [endings[0] ?? endingAt(from), 0];
    // A carriage return that was given stays, and is not given twice.
    return fresh.replaceAll(/\r?\n/g, (given) => {
      ending = endings[standsFor[line++] ?? -1] ?? ending;
      return given === '\n' ? ending : given;
    });
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

/** For each new line the old one that is the same at the beginning or the end, or that it takes the place of. */
function linesStoodFor(old: string[], given: string[]): (number | undefined)[] {
  const fresh = given.map((line) => line.replace(/\r$/, ''));
  const most = Math.min(old.length, fresh.length);
  const added = fresh.length - old.length;
  let [lead, trail] = [0, 0];
  while (lead < most && old[lead] === fresh[lead]) lead++;
  while (trail < most - lead && old.at(-1 - trail) === fresh.at(-1 - trail)) trail++;
  return fresh.map((_, line) => {
    if (line >= fresh.length - trail) return line - added;
    return line < old.length - trail ? line : undefined;
  });
}
