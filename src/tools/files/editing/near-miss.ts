import { around, differenceAt, visibleLine } from '../text/visible-line.ts';

/**
 * More is not compared line by line, nor looked at of what was given; rows that are shown, and characters of
 * each.
 */
const most = { compared: 1024 * 1024, given: 256 * 1024, lines: 1000, shown: 24, characters: 200 };
/** Lines more than were given that are looked at, since some may be missing in what was given. */
const margin = 8;

/**
 * Says why `old` may not have been found, with the nearest text there is, and what to do. Takes 100 ms at
 * worst.
 */
export async function whyNotFound(text: string, old: string): Promise<{ words: string; wayOut: string }> {
  if (text === '') return { words: 'The file is empty.', wayOut: 'Use write_file.' };
  const given = old.slice(0, most.given).replace(/(?<=[^])\n$/, '');
  const wanted = given.split('\n').slice(0, most.lines);
  const lines = text.split('\n');
  const start =
    (text.length > most.compared ? undefined : nearestStart(lines, wanted)) ?? lineOfPiece(text, old);
  if (start === undefined)
    return {
      words: 'Nothing in the file is like it.',
      wayOut: 'Read the part again, and copy old_string from there.',
    };
  const there = lines.slice(start, start + wanted.length + margin);
  const rows = await differenceRows(wanted, there, start + 1);
  const left = rows.splice(most.shown).length;
  const legend = '(- as given, + as in the file; · is a blank, → a tab)';
  const shown = [legend, ...rows, ...(left > 0 ? [`… ${left} more lines`] : [])].join('\n');
  return {
    words: `The nearest begins at line ${start + 1}.`,
    wayOut: `Copy old_string from the lines with +.\n${shown}`,
  };
}

/** The line, from 0, that has the first of sixteen pieces of a text that occurs in the file. */
function lineOfPiece(text: string, old: string): number | undefined {
  const step = Math.max(16, Math.floor(old.length / 16));
  for (let from = 0; from < step * 16; from += step) {
    const piece = old.slice(from, from + 16).trim();
    const at = piece.length < 6 || piece.includes('\n') ? -1 : text.indexOf(piece);
    if (at !== -1) return text.slice(0, at).split('\n').length - 1;
  }
  return undefined;
}

/**
 * The line, from 0, where most of the given lines would begin, by their length; undefined when none is there.
 */
function nearestStart(text: readonly string[], wanted: readonly string[]): number | undefined {
  const indexes = new Map(wanted.map((line, index) => [folded(line), index] as const).toReversed());
  const votes = new Map<number, number>();
  for (const [at, line] of text.entries()) {
    const key = folded(line);
    const index = indexes.get(key);
    if (index !== undefined && key !== '') votes.set(at - index, (votes.get(at - index) ?? 0) + key.length);
  }
  const [best] = [...votes].sort(([, one], [, other]) => other - one);
  return best && Math.max(0, best[0]);
}

/** A line without what is given wrongly most often: blanks, forms of quotes, dashes and accents, case. */
const folded = (line: string): string =>
  line
    .slice(0, 400)
    .replaceAll(/[\s\u00ad\u200b-\u200f\u2060\ufeff]+/g, '')
    .replaceAll(/[`´"\u2018-\u201f]/g, "'")
    .replaceAll(/[\u2010-\u2015]/g, '-')
    .normalize('NFC')
    .toLowerCase();

/** How given lines differ from those of the file, the first of which has the number `line`; of runs that are the same
 * the line next to a difference. */
async function differenceRows(wanted: readonly string[], there: readonly string[], line: number) {
  const { diffArrays } = await import('diff');
  // A text that begins within a line does not differ by the indentation before it.
  const indent = /^\S/.test(wanted[0] ?? '') ? (/^\s*/.exec(there[0] ?? '')?.[0] ?? '') : '';
  const changes = diffArrays([indent + (wanted[0] ?? ''), ...wanted.slice(1)], [...there]);
  const rows: string[] = [];
  for (const [at, { added, removed, value }] of changes.entries()) {
    const [before, after] = [changes[at - 1], changes[at + 1]];
    if (removed) {
      const others = after?.added ? after.value : [];
      rows.push(...value.map((one, index) => `- given  ${shownBeside(one, others[index])}`));
      continue;
    }
    const others = before?.removed ? before.value : [];
    for (const [index, one] of value.entries()) {
      // At the end only as many lines as were given in their place; the others the margin has brought.
      if (added && (after || index < others.length))
        rows.push(`+ ${line + index}  ${shownBeside(one, others[index])}`);
      const isNext = (before && index === 0) || (after && index === value.length - 1);
      if (!added && isNext) rows.push(`  ${line + index}  ${around(one, 0, most.characters)}`);
    }
    line += value.length;
  }
  return rows;
}

/**
 * A line with what is not seen in it made visible; all of that where little else makes it differ from the
 * other.
 */
function shownBeside(line: string, other = ''): string {
  // In a very long line, the part that the other is.
  const found = line.length > most.characters && other ? line.indexOf(other.slice(0, 12)) : -1;
  const at = Math.max(differenceAt(line, other), found);
  return visibleLine(around(line.toWellFormed(), at, most.characters), folded(line) === folded(other));
}
