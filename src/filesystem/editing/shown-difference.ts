import { around, differenceAt, visibleLine } from '../text/visible-line.ts';

const lineCharacters = 200;
const mostShown = 24;
/** Lines more than were given that are looked at, since some may be missing in what was given. */
const margin = 8;

/** What lines can differ in, the simplest first. */
const kinds: readonly [name: string, without: (line: string) => string][] = [
  [
    'unusual blanks or characters that are not seen',
    (line) => line.replaceAll(/[\u00ad\u200b-\u200f\u2060\ufeff]/g, '').replaceAll(/(?!\t)\s/g, ' '),
  ],
  ['carriage returns', (line) => line.replaceAll('\r', '')],
  ['blanks at the ends of lines', (line) => line.trimEnd()],
  ['indentation', (line) => line.trimStart()],
  ['blanks', (line) => line.replaceAll(/\s+/g, '')],
  [
    'the form of quotes or dashes',
    (line) =>
      line.replaceAll(/[\u2018-\u201f\u2032\u2033`´"]/g, "'").replaceAll(/[\u2010-\u2015\u2212]/g, '-'),
  ],
  ['the Unicode form (composed or decomposed)', (line) => line.normalize('NFC')],
  ['upper and lower case', (line) => line.toLowerCase()],
  ['blanks, quotes or case', (line) => kinds.slice(0, -1).reduce((text, [, without]) => without(text), line)],
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
  const { diffArrays } = await import('diff');
  const there = lines.slice(start, start + wanted.length + margin).map((line) => line.replace(/\r$/, ''));
  const given = asPartOf(wanted, there);
  const changes = diffArrays(given, there);
  const number = firstLine + start;
  const rows: string[] = [];
  const names = new Set<string>();
  let [line, removed] = [number, [] as string[]];
  for (const [at, change] of changes.entries()) {
    const { added, removed: isRemoved, value } = change;
    if (isRemoved) {
      removed = value;
      const next = changes[at + 1];
      if (!next?.added) names.add('');
      continue;
    }
    // At the end only as many lines as were given in their place; the others the margin has brought.
    const isLast = at === changes.length - 1;
    const shown = added && isLast ? value.slice(0, removed.length) : value;
    if (added) {
      for (const [index, one] of removed.entries()) names.add(kindOf(one, shown[index]));
      if (shown.length > removed.length) names.add('');
      rows.push(...pairRows(removed, shown, line));
    } else {
      if (removed.length > 0) rows.push(...pairRows(removed, [], line));
      // One line before and after what differs tells where it is.
      const edges = new Set([...(at > 0 ? [0] : []), ...(isLast ? [] : [value.length - 1])]);
      for (const index of edges)
        rows.push(`  ${line + index}  ${around(value[index] ?? '', 0, lineCharacters)}`);
    }
    removed = [];
    line += value.length;
  }
  if (removed.length > 0) rows.push(...pairRows(removed, [], line));
  const left = rows.length > mostShown ? [`… ${rows.length - mostShown} more lines`] : [];
  const legend = '(- as given, + as in the file; · is a blank, → a tab, ␍ a carriage return)';
  return {
    words:
      names.has('') || names.size === 0
        ? `The nearest begins at line ${number}.`
        : `It differs only in ${[...names].join(' and ')} from line ${number} on.`,
    text: [legend, ...rows.slice(0, mostShown), ...left].join('\n'),
  };
}

/** In what one kind of thing two lines differ; '' when it is more. */
const kindOf = (line: string, other: string | undefined): string =>
  (other !== undefined && kinds.find(([, without]) => without(line) === without(other))?.[0]) || '';

/** Lines that were given, and those that stand in their place from a line on. */
function pairRows(given: readonly string[], there: readonly string[], number: number): string[] {
  const isPaired = given.length === there.length;
  const show = (line: string, other: string | undefined) => {
    const kind = isPaired ? kindOf(line, other) : '';
    const at = isPaired && other !== undefined ? differsAt(line, other) : 0;
    return visibleLine(around(line, at, lineCharacters), {
      blanks: kind !== '',
      accents: /Unicode/.test(kind),
    });
  };
  return [
    ...given.map((line, at) => `- ${'given'.padStart(String(number).length)}  ${show(line, there[at])}`),
    ...there.map((line, at) => `+ ${number + at}  ${show(line, given[at])}`),
  ];
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

const pieceCharacters = 12;

/** Where a line begins to differ from another, or from the part of it that the other is. */
function differsAt(line: string, other: string): number {
  const at = differenceAt(line, other);
  for (let from = 0; at === 0 && from + pieceCharacters <= other.length; from += pieceCharacters) {
    const found = line.indexOf(other.slice(from, from + pieceCharacters));
    if (found !== -1) return Math.max(0, found - from);
  }
  return at;
}
