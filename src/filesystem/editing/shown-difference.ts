import { changedLines, type ChangedLines } from '../diff/changed-lines.ts';
import { around, differenceAt, visibleLine } from '../text/visible-line.ts';

const lineCharacters = 200;
const mostShown = 24;
/** Lines more than were given that are looked at, since some may be missing in what was given. */
const margin = 8;

const withoutBlanks = (text: string): string => text.replaceAll(/\s+/g, '');

/** What lines can differ in, the simplest first. */
const kinds: readonly [name: string, without: (line: string) => string][] = [
  [
    'unusual blanks or characters that are not seen',
    (line) =>
      line
        .replaceAll(/[\u00ad\u200b-\u200f\u2060\ufeff]/g, '')
        .replaceAll(/[\u00a0\u202f\u2000-\u200a\u3000]/g, ' '),
  ],
  ['carriage returns', (line) => line.replaceAll('\r', '')],
  ['blanks at the ends of lines', (line) => line.trimEnd()],
  ['indentation', (line) => line.trimStart()],
  ['blanks', withoutBlanks],
  [
    'the form of quotes or dashes',
    (line) =>
      line.replaceAll(/[\u2018-\u201f\u2032\u2033`´"]/g, "'").replaceAll(/[\u2010-\u2015\u2212]/g, '-'),
  ],
  ['the Unicode form (composed or decomposed)', (line) => line.normalize('NFC')],
  ['upper and lower case', (line) => line.toLowerCase()],
];

/**
 * How lines that were given differ from those of a text that begin at `start`, in words where it is only one kind of
 * thing, and as a small diff; `firstLine` is the number of the first line of the text.
 */
export async function shownDifference(
  wanted: readonly string[],
  lines: readonly string[],
  start: number,
  firstLine: number,
): Promise<{ words: string; text: string }> {
  const there = lines.slice(start, start + wanted.length + margin).map((line) => line.replace(/\r$/, ''));
  const given = asPartOf(wanted, there);
  const changes = withoutMargin(await changedLines(given, there), given, there);
  const isPaired = changes.every(({ from, to, nowFrom, nowTo }) => to - from === nowTo - nowFrom);
  const names = isPaired ? kindsOfDifference(changes, given, there) : undefined;
  const number = firstLine + start;
  return {
    words: names
      ? `It differs only in ${names.join(' and ')} from line ${number} on.`
      : `The nearest begins at line ${number}.`,
    text: rendered(changes, given, there, number, names !== undefined),
  };
}

/**
 * The first and the last line that were given may be only a part of a line: then they do not differ, nor does the
 * indentation before the first.
 */
function asPartOf(wanted: readonly string[], there: readonly string[]): string[] {
  return wanted.map((line, index) => {
    const whole = there[index];
    if (line === '' || whole === undefined) return line;
    const isFirst = index === 0;
    if (wanted.length > 1 && isFirst && whole.endsWith(line)) return whole;
    if (wanted.length > 1 && index === wanted.length - 1 && whole.startsWith(line)) return whole;
    return isFirst && !/^\s/.test(line) ? (/^\s*/.exec(whole)?.[0] ?? '') + line : line;
  });
}

/** Without lines at the end that only the margin has brought. */
function withoutMargin(
  changes: readonly ChangedLines[],
  given: readonly string[],
  there: readonly string[],
): readonly ChangedLines[] {
  const last = changes.at(-1);
  if (!last || last.to !== given.length || last.nowTo !== there.length) return changes;
  const count = last.to - last.from;
  const nowTo = Math.min(last.nowTo, last.nowFrom + count);
  return [...changes.slice(0, -1), ...(count === 0 ? [] : [{ ...last, nowTo }])];
}

/** What all pairs of lines differ in, when nothing else does. */
function kindsOfDifference(
  changes: readonly ChangedLines[],
  given: readonly string[],
  there: readonly string[],
): string[] | undefined {
  const names = new Set<string>();
  for (const { from, to, nowFrom } of changes) {
    for (let line = from; line < to; line++) {
      const [one, other] = [given[line] ?? '', there[nowFrom + line - from] ?? ''];
      const all = (text: string) => kinds.reduce((rest, [, without]) => without(rest), text);
      const alone = kinds.find(([, without]) => without(one) === without(other));
      if (alone) names.add(alone[0]);
      else if (all(one) === all(other)) names.add('blanks, quotes or case');
      else return undefined;
    }
  }
  return names.size > 0 ? [...names] : undefined;
}

const pieceCharacters = 12;

/** Where a line begins to differ from another, or from the part of it that the other is. */
function differsAt(line: string, other = ''): number {
  const at = differenceAt(line, other);
  if (at > 0) return at;
  for (let from = 0; from + pieceCharacters <= other.length; from += pieceCharacters) {
    const found = line.indexOf(other.slice(from, from + pieceCharacters));
    if (found !== -1) return Math.max(0, found - from);
  }
  return 0;
}

function rendered(
  changes: readonly ChangedLines[],
  given: readonly string[],
  there: readonly string[],
  number: number,
  allBlanks: boolean,
): string {
  const rows: string[] = [];
  const show = (line: string, other: string | undefined) =>
    visibleLine(around(line, differsAt(line, other), lineCharacters), {
      blanks: allBlanks || (other !== undefined && withoutBlanks(line) === withoutBlanks(other)),
      accents: line.normalize('NFC') === other?.normalize('NFC'),
    });
  let shownTo = 0;
  for (const { from, to, nowFrom, nowTo } of changes) {
    for (let line = shownTo; line < nowFrom; line++) {
      // One line before and after what differs tells where it is.
      if (line === shownTo || line === nowFrom - 1)
        rows.push(`  ${number + line}  ${around(there[line] ?? '', 0, lineCharacters)}`);
    }
    const isPaired = to - from === nowTo - nowFrom;
    for (let line = from; line < to; line++) {
      const other = isPaired ? there[nowFrom + line - from] : undefined;
      rows.push(`- ${'given'.padStart(String(number).length)}  ${show(given[line] ?? '', other)}`);
    }
    for (let line = nowFrom; line < nowTo; line++) {
      const other = isPaired ? given[from + line - nowFrom] : undefined;
      rows.push(`+ ${number + line}  ${show(there[line] ?? '', other)}`);
    }
    shownTo = nowTo;
  }
  const shown = rows.slice(0, mostShown);
  if (rows.length > mostShown) shown.push(`… ${rows.length - mostShown} more lines`);
  return `(- as given, + as in the file; · is a blank, → a tab, ␍ a carriage return)\n${shown.join('\n')}`;
}
