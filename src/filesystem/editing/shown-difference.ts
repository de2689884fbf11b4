import { changedLines, type ChangedLines } from '../diff/line-script.ts';
import { around, differenceAt, visibleLine } from '../text/visible-text.ts';

/** How a text that was given differs from the one that is there. */
interface ShownDifference {
  /** What differs, where it is only one kind of thing. */
  readonly words: string;
  /** A small diff: - as given, + as it is there. */
  readonly text: string;
}

const lineCharacters = 200;
const mostShown = 24;
/** Lines more than were given that are looked at, since some may be missing in what was given. */
const margin = 8;

const withoutUnseen = (text: string): string =>
  text
    .replaceAll(/[\u00ad\u200b-\u200f\u2060\ufeff]/g, '')
    .replaceAll(/[\u00a0\u202f\u2000-\u200a\u3000]/g, ' ');

const withoutBlanks = (text: string): string => text.replaceAll(/\s+/g, '');

const withPlainQuotes = (text: string): string =>
  text.replaceAll(/[\u2018-\u201f\u2032\u2033`´"]/g, "'").replaceAll(/[\u2010-\u2015\u2212]/g, '-');

/** What lines can differ in, the simplest first. */
const kinds: readonly [name: string, without: (line: string) => string][] = [
  ['unusual blanks or characters that are not seen', withoutUnseen],
  ['carriage returns', (line) => line.replaceAll('\r', '')],
  ['blanks at the ends of lines', (line) => line.trimEnd()],
  ['indentation', (line) => line.trimStart()],
  ['blanks', withoutBlanks],
  ['the form of quotes or dashes', withPlainQuotes],
  ['the Unicode form (composed or decomposed)', (line) => line.normalize('NFC')],
  ['upper and lower case', (line) => line.toLowerCase()],
];

/**
 * Compares lines that were given with those of a text that begin at `start`; `firstLine` is the number of its first
 * line.
 */
export async function shownDifference(
  wanted: readonly string[],
  lines: readonly string[],
  start: number,
  firstLine: number,
): Promise<ShownDifference> {
  const there = lines.slice(start, start + wanted.length + margin).map((line) => line.replace(/\r$/, ''));
  const given = asPartOf(wanted, there);
  const script = trimmed(await changedLines(given, there), given, there);
  const pairs = script.flatMap(({ from, to, nowFrom, nowTo }) =>
    to - from === nowTo - nowFrom
      ? given.slice(from, to).map((line, index): [string, string] => [line, there[nowFrom + index] ?? ''])
      : [],
  );
  const paired = script.every(({ from, to, nowFrom, nowTo }) => to - from === nowTo - nowFrom);
  const names = paired ? differingIn(pairs) : undefined;
  const number = firstLine + start;
  return {
    words: names
      ? `It differs only in ${names.join(' and ')} from line ${number} on.`
      : `The nearest begins at line ${number}.`,
    text: rendered(script, given, there, number, names !== undefined),
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
    const first = index === 0;
    if (wanted.length > 1 && first && whole.endsWith(line)) return whole;
    if (wanted.length > 1 && index === wanted.length - 1 && whole.startsWith(line)) return whole;
    return first && !/^\s/.test(line) ? (/^\s*/.exec(whole)?.[0] ?? '') + line : line;
  });
}

/** Without lines at the end that only the margin has brought. */
function trimmed(
  script: readonly ChangedLines[],
  wanted: readonly string[],
  there: readonly string[],
): ChangedLines[] {
  const last = script.at(-1);
  if (!last || last.to !== wanted.length || last.nowTo !== there.length) return [...script];
  const count = last.to - last.from;
  if (count === 0) return script.slice(0, -1);
  const nowTo = Math.min(last.nowTo, last.nowFrom + count);
  return [...script.slice(0, -1), { ...last, nowTo }];
}

/** What all pairs of lines differ in, when nothing else does. */
function differingIn(pairs: readonly (readonly [string, string])[]): string[] | undefined {
  const names = new Set<string>();
  for (const [one, other] of pairs) {
    const alone = kinds.find(([, without]) => without(one) === without(other));
    const all = (line: string) => kinds.reduce((text, [, without]) => without(text), line);
    if (alone) names.add(alone[0]);
    else if (one.trim() === other.trim()) names.add('indentation').add('blanks at the ends of lines');
    else if (all(one) === all(other)) names.add('blanks, quotes or case');
    else return undefined;
  }
  return names.size > 0 ? [...names] : undefined;
}

function rendered(
  script: readonly ChangedLines[],
  wanted: readonly string[],
  there: readonly string[],
  number: number,
  everywhere: boolean,
): string {
  const rows: string[] = [];
  const same = (from: number, to: number) => {
    for (let line = from; line < to; line++) {
      // One line before and after what differs tells where it is.
      if (line > from && line < to - 1) continue;
      rows.push(`  ${number + line}  ${around(there[line] ?? '', 0, lineCharacters)}`);
    }
  };
  let shownTo = 0;
  for (const { from, to, nowFrom, nowTo } of script) {
    same(Math.max(shownTo, 0), nowFrom);
    const matched = to - from === nowTo - nowFrom;
    const show = (line: string, other: string | undefined) => {
      const at = other === undefined ? 0 : differenceAt(line, other);
      return visibleLine(around(line, at, lineCharacters), {
        blanks: everywhere || (other !== undefined && withoutBlanks(line) === withoutBlanks(other)),
        accents: line.normalize('NFC') === other?.normalize('NFC'),
      });
    };
    for (let line = from; line < to; line++) {
      const other = matched ? there[nowFrom + line - from] : undefined;
      rows.push(`- ${'given'.padStart(String(number).length)}  ${show(wanted[line] ?? '', other)}`);
    }
    for (let line = nowFrom; line < nowTo; line++)
      rows.push(
        `+ ${number + line}  ${show(there[line] ?? '', matched ? wanted[from + line - nowFrom] : undefined)}`,
      );
    shownTo = nowTo;
  }
  const shown = rows.slice(0, mostShown);
  if (rows.length > mostShown) shown.push(`… ${rows.length - mostShown} more lines`);
  return `(- as given, + as in the file; · is a blank, → a tab, ␍ a carriage return)\n${shown.join('\n')}`;
}
