import { isUtf8 } from 'node:buffer';
import { lineStart } from '../text/line-at.ts';
import { sharedEnds, type Edit, type TextRange } from './edited-text.ts';

/** Whole lines of a text that an edit means, what takes their place, and which difference was passed over. */
interface LineMatch extends TextRange {
  readonly fresh: string;
  readonly note: string;
}

/** One way in which a text is given other than it is there, without anything being lost. */
interface MatchRule {
  readonly note: string;
  /** The edit that is then meant; undefined where the rule says nothing. */
  meant?(edit: Edit): Edit | undefined;
  /** What has to be alike of a line. */
  key?(line: string): string;
  /** A line of the new text, as the file would have it; undefined where it cannot have it. */
  made?(line: string, from: MatchedLines): string | undefined;
}

/** Lines that were given and those of the file that are alike. */
interface MatchedLines {
  readonly given: readonly string[];
  readonly there: readonly string[];
  /** Which of them the new line takes the place of, where it does so alone. */
  readonly at: number | undefined;
}

/** As read_file, cat -n and editors put it before a line. */
const lineNumber = /^[ \t]*(\d{1,9})[\t→]/;

/**
 * The edit without the line numbers that were copied with the text: in `old` each is one higher than the one
 * before. They are taken off `new` when all its lines have them; when only some have, nobody can know what is
 * meant.
 */
function withoutLineNumbers(edit: Edit): Edit | undefined {
  const numbers = (text: string) =>
    text
      .replace(/\n$/, '')
      .split('\n')
      .map((line) => Number(lineNumber.exec(line)?.[1]));
  const stripped = (text: string) => text.replaceAll(new RegExp(lineNumber, 'gm'), '');
  if (!lineNumber.test(edit.old)) return undefined;
  const [given, fresh] = [numbers(edit.old), numbers(edit.new)];
  const isRising = given.every((number, index) => number === (given[0] ?? NaN) + index);
  if (!isRising || (fresh.some(Number.isNaN) && !fresh.every(Number.isNaN))) return undefined;
  return { ...edit, old: stripped(edit.old), new: stripped(edit.new) };
}

const entities: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', '#39': "'", amp: '&' };
const escapes: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t' };

/** Without one level of escapes, or of the entities of HTML. */
function unescaped(edit: Edit): Edit | undefined {
  const once = (text: string) =>
    text.replaceAll(/\\([nrt"'`\\])/g, (_, sign: string) => escapes[sign] ?? sign);
  const plain = (text: string) =>
    text.replaceAll(/&(lt|gt|quot|#39|amp);/g, (_, name: string) => entities[name] ?? name);
  const off = once(edit.old) === edit.old ? plain : once;
  return off(edit.old) === edit.old ? undefined : { ...edit, old: off(edit.old), new: off(edit.new) };
}

/** One character for one: what is kept of a line is found by its place. */
const plainSigns = (line: string): string =>
  line
    .replaceAll(/[\u2018-\u201b\u2032]/g, "'")
    .replaceAll(/[\u201c-\u201f\u2033]/g, '"')
    .replaceAll(/[\u2010-\u2015\u2212]/g, '-')
    .replaceAll(/(?!\t)\s/g, ' ');

/**
 * A new line, whose beginning and end, as far as they were given like the old ones, are those of the file.
 */
function withSigns(line: string, { given, there, at }: MatchedLines): string {
  const [old, own] = at === undefined ? [] : [given[at], there[at]];
  if (old === undefined || own === undefined) return line;
  const { lead, trail } = sharedEnds(line.split(''), old.split(''));
  return own.slice(0, lead) + line.slice(lead, line.length - trail) + own.slice(own.length - trail);
}

const indentOf = (line = ''): string => /^[ \t]*/.exec(line)?.[0] ?? '';

/**
 * A line indented as far as those of the file are; undefined where they differ, or it begins further left.
 */
function shifted(line: string, { given, there }: Omit<MatchedLines, 'at'>): string | undefined {
  const first = given.findIndex((one) => one.trim() !== '');
  let [from, to] = [indentOf(given[first]), indentOf(there[first])];
  while (from !== '' && from.at(-1) === to.at(-1)) [from, to] = [from.slice(0, -1), to.slice(0, -1)];
  if (line.trim() === '') return line;
  return line.startsWith(from) ? to + line.slice(from.length) : undefined;
}

const rules: readonly MatchRule[] = [
  { note: 'line numbers at the beginning of the lines were left out', meant: withoutLineNumbers },
  { note: 'blanks at the ends of lines differ', key: (line) => line.trimEnd() },
  {
    note: 'the indentation differs by the same in each line, and was given to the new text too',
    key: (line) => line.replace(/^[ \t]+/, ''),
    made: shifted,
  },
  {
    note: 'quotes, dashes or blanks are of another form; those of the file were kept',
    key: plainSigns,
    made: withSigns,
  },
  { note: 'one level of escapes was taken off', meant: unescaped },
];

/** Of more text than this, nobody has copied whole lines by hand. */
const most = { text: 2 * 1024 * 1024, given: 256 * 1024, compared: 2e7 };

/**
 * Where the lines of an edit are, when there is one place with all that matters alike; of two nobody can know
 * which is meant. The first rule by which there is any decides.
 */
export function matchLines(text: Buffer, edit: Edit): LineMatch | undefined {
  if (text.length > most.text || edit.old.length > most.given) return undefined;
  const lines = text.toString().split('\n');
  for (const rule of rules) {
    const meant = rule.meant ? rule.meant(edit) : edit;
    if (!meant || meant.old.trim() === '' || meant.old === meant.new) continue;
    const takesEnd = meant.old.endsWith('\n');
    const bothEnd = takesEnd && meant.new.endsWith('\n');
    const given = meant.old.split('\n').slice(0, takesEnd ? -1 : undefined);
    const [start, other] = runsAlike(lines, given, rule);
    if (other !== undefined) return undefined;
    if (start === undefined) continue;
    const there = lines.slice(start, start + given.length);
    const wanted = meant.new.split('\n').slice(0, bothEnd ? -1 : undefined);
    // Lines that the edit leaves as they are stay those of the file.
    const fresh = wanted.map((line, index) => {
      const same = there[given.indexOf(line)];
      const at = wanted.length === given.length ? index : undefined;
      return same ?? (rule.made ? rule.made(line, { given, there, at }) : line);
    });
    const from = lineStart(text, start + 1);
    const next = lineStart(text, start + 1 + given.length);
    // The last line of all may have no end, which is then none that goes.
    const to = next > text.length || (takesEnd && !bothEnd) ? Math.min(next, text.length) : next - 1;
    // What cannot be shown cannot be written again.
    if (fresh.includes(undefined) || !isUtf8(text.subarray(from, to))) return undefined;
    const note = `old_string matched line ${start + 1}, but not exactly: ${rule.note}`;
    return { from, to, fresh: fresh.join('\n'), note };
  }
  return undefined;
}

/** Where the given lines begin, at most two places. */
function runsAlike(lines: readonly string[], given: readonly string[], { key, made }: MatchRule): number[] {
  if (lines.length * given.length > most.compared) return [];
  const [keys, wanted] = key ? [lines.map(key), given.map(key)] : [lines, given];
  const found: number[] = [];
  for (let at = 0; at + wanted.length <= keys.length && found.length < 2; at++) {
    if (!wanted.every((one, index) => one === keys[at + index])) continue;
    const there = lines.slice(at, at + wanted.length);
    // The indentation has to differ by the same in each line.
    const isSame = (line: string, index: number) =>
      line.trim() === '' || shifted(line, { given, there }) === there[index];
    if (made !== shifted || given.every(isSame)) found.push(at);
  }
  return found;
}
