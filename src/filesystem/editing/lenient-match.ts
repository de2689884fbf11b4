import type { Edit, Place } from './edited-text.ts';

/** Whole lines of a text that an edit means, what takes their place, and which difference was passed over. */
interface LineMatch extends Place {
  readonly fresh: string;
  readonly note: string;
}

/** One way in which a text is given other than it is there, without anything being lost. */
interface Rule {
  readonly note: string;
  /** The edit that is then meant; undefined where the rule says nothing. */
  meant?(edit: Edit): Edit | undefined;
  /** What has to be alike of a line. */
  key?(line: string): string;
  /** It is alike in each character, so that those of the file can be kept. */
  readonly isByCharacter?: boolean;
  /** Alike but for the indentation, which has to differ by the same in each line. */
  readonly shifts?: boolean;
}

/** As read_file, cat -n and editors put it before a line. */
const lineNumber = /^[ \t]*(\d{1,9})[\t→]/;

/**
 * The edit without the line numbers that were copied with the text: in `old` each is one higher than the one before.
 * They are taken off `new` when all its lines have them; when only some have, nobody can know what is meant.
 */
function withoutLineNumbers(edit: Edit): Edit | undefined {
  if (!lineNumber.test(edit.old)) return undefined;
  const numbers = (text: string) =>
    text
      .replace(/\n$/, '')
      .split('\n')
      .map((line) => Number(lineNumber.exec(line)?.[1]));
  const stripped = (text: string) => text.replaceAll(new RegExp(lineNumber, 'gm'), '');
  const [first = NaN, ...others] = numbers(edit.old);
  if (others.some((number, index) => number !== first + index + 1)) return undefined;
  const fresh = numbers(edit.new);
  if (fresh.some(Number.isNaN) && !fresh.every(Number.isNaN)) return undefined;
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

const rules: readonly Rule[] = [
  { note: 'line numbers at the beginning of the lines were left out', meant: withoutLineNumbers },
  { note: 'blanks at the ends of lines differ', key: (line) => line.trimEnd() },
  {
    note: 'the indentation differs by the same in each line, and was given to the new text too',
    key: (line) => line.replace(/^[ \t]+/, ''),
    shifts: true,
  },
  {
    note: 'quotes, dashes or blanks are of another form; those of the file were kept',
    key: plainSigns,
    isByCharacter: true,
  },
  { note: 'one level of escapes was taken off', meant: unescaped },
];

/** Of more text than this, nobody has copied whole lines by hand. */
const most = { text: 2 * 1024 * 1024, given: 256 * 1024, compared: 2e7 };

/**
 * The one run of whole lines that an edit means which is nowhere exactly; undefined when no rule finds one, or the
 * first that finds any finds several.
 */
export async function matchLines(text: string, edit: Edit): Promise<LineMatch | undefined> {
  if (text.length > most.text || edit.old.length > most.given || edit.old.trim() === '') return undefined;
  const lines = text.split('\n');
  for (const rule of rules) {
    const meant = rule.meant ? rule.meant(edit) : edit;
    if (!meant || meant.old.trim() === '' || meant.old === meant.new) continue;
    const given = linesGiven(meant);
    const [start, other] = runsAlike(lines, given.old, rule);
    if (other !== undefined) return undefined;
    if (start !== undefined) return replacementOf(lines, start, given, rule);
  }
  return undefined;
}

interface GivenLines {
  readonly old: readonly string[];
  readonly new: readonly string[];
  /** Whether the end of the last line goes too. */
  readonly takesEnd: boolean;
}

function linesGiven({ old, new: fresh }: Edit): GivenLines {
  const [was, is] = [old.split('\n'), fresh.split('\n')];
  if (was.length === 1 || was.at(-1) !== '') return { old: was, new: is, takesEnd: false };
  const bothEnd = is.length > 1 && is.at(-1) === '';
  return { old: was.slice(0, -1), new: bothEnd ? is.slice(0, -1) : is, takesEnd: !bothEnd };
}

const asItIs = (line: string): string => line;

/** Where the given lines begin, at most two places. */
function runsAlike(
  lines: readonly string[],
  given: readonly string[],
  { key = asItIs, shifts }: Rule,
): number[] {
  if (lines.length * given.length > most.compared) return [];
  const [keys, wanted] = [lines.map(key), given.map(key)];
  const found: number[] = [];
  for (let at = 0; at + wanted.length <= keys.length && found.length < 2; at++) {
    if (!wanted.every((one, index) => one === keys[at + index])) continue;
    if (!shifts || shiftOf(given, lines.slice(at, at + wanted.length))) found.push(at);
  }
  return found;
}

const indentOf = (line: string): string => /^[ \t]*/.exec(line)?.[0] ?? '';

/** What each given line has in the place of what each line of the file has; undefined when that differs. */
function shiftOf(given: readonly string[], there: readonly string[]) {
  const first = given.findIndex((line) => line.trim() !== '');
  let [from, to] = [indentOf(given[first] ?? ''), indentOf(there[first] ?? '')];
  while (from !== '' && from.at(-1) === to.at(-1)) [from, to] = [from.slice(0, -1), to.slice(0, -1)];
  const isShifted = (line: string, index: number) =>
    line.trim() === '' || (line.startsWith(from) && to + line.slice(from.length) === there[index]);
  return given.every(isShifted) ? { from, to } : undefined;
}

/** Lines that the edit leaves as they are stay those of the file. */
async function replacementOf(lines: readonly string[], start: number, given: GivenLines, rule: Rule) {
  const { diffArrays } = await import('diff');
  const there = lines.slice(start, start + given.old.length);
  const shift = rule.shifts ? shiftOf(given.old, there) : undefined;
  const fresh: string[] = [];
  let at = 0;
  let replaced: readonly string[] = [];
  for (const { added, removed, value } of diffArrays([...given.old], [...given.new])) {
    if (removed) replaced = value;
    else if (!added) fresh.push(...there.slice(at, at + value.length));
    else
      for (const [row, line] of value.entries()) {
        const old = rule.isByCharacter && replaced.length === value.length ? replaced[row] : undefined;
        const own = there[at - replaced.length + row] ?? '';
        const made = shift ? shifted(line, shift) : old === undefined ? line : withSigns(line, old, own);
        if (made === undefined) return undefined;
        fresh.push(made);
      }
    if (!removed) replaced = [];
    if (!added) at += value.length;
  }
  const from = lines.slice(0, start).reduce((sum, { length }) => sum + length + 1, 0);
  const length = there.reduce((sum, each) => sum + each.length + 1, -1);
  // The last line of all may have no end, which is then none that goes.
  const takesEnd = given.takesEnd && start + there.length < lines.length;
  return { from, to: from + length + (takesEnd ? 1 : 0), fresh: fresh.join('\n'), note: rule.note };
}

/** Undefined for a line that begins further left than what is shifted. */
function shifted(line: string, { from, to }: { from: string; to: string }): string | undefined {
  if (line.trim() === '') return line;
  return line.startsWith(from) ? to + line.slice(from.length) : undefined;
}

/** A new line, whose beginning and end, as far as they were given like the old ones, are those of the file. */
function withSigns(fresh: string, old: string, there: string): string {
  const least = Math.min(fresh.length, old.length);
  let [lead, trail] = [0, 0];
  while (lead < least && fresh[lead] === old[lead]) lead++;
  while (trail < least - lead && fresh.at(-1 - trail) === old.at(-1 - trail)) trail++;
  return there.slice(0, lead) + fresh.slice(lead, fresh.length - trail) + there.slice(there.length - trail);
}
