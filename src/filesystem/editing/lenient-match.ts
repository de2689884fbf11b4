import { withoutLineNumbers } from '../text/line-numbers.ts';
import type { EditableText } from './editable-text.ts';
import { withLf, type Edit } from './find-text.ts';

/** Whole lines of a text that an edit means, and what takes their place. */
export interface LineMatch {
  readonly from: number;
  readonly to: number;
  /** In the form of the text. */
  readonly fresh: string;
  /** Which difference was passed over, for people. */
  readonly note: string;
}

/** One way in which a text is given other than it is there, without anything being lost. */
interface Rule {
  readonly note: string;
  /** The edit that is then meant; undefined where the rule says nothing. */
  meant?(edit: Edit): Edit | undefined;
  /** What has to be alike of a line. */
  key(line: string): string;
  /** It is alike in each character, so that those of the file can be kept. */
  readonly isByCharacter?: boolean;
  /** Alike but for the indentation, which has to differ by the same in each line. */
  readonly shifts?: boolean;
}

const withoutReturn = (line: string): string => (line.endsWith('\r') ? line.slice(0, -1) : line);

const unescaped = ({ old, new: fresh, ...rest }: Edit): Edit | undefined => {
  const plain: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t' };
  const once = (text: string) => text.replaceAll(/\\([nrt"'`\\])/g, (_, name: string) => plain[name] ?? name);
  return once(old) === old ? undefined : { ...rest, old: once(old), new: once(fresh) };
};

const withoutEntities = ({ old, new: fresh, ...rest }: Edit): Edit | undefined => {
  const plain: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', '#39': "'", amp: '&' };
  const once = (text: string) =>
    text.replaceAll(/&(lt|gt|quot|#39|amp);/g, (_, name: string) => plain[name] ?? name);
  return once(old) === old ? undefined : { ...rest, old: once(old), new: once(fresh) };
};

/** One character for one: what is kept of a line is found by its place. */
const plainSigns = (line: string): string =>
  withoutReturn(line)
    .replaceAll(/[\u2018-\u201b\u2032]/g, "'")
    .replaceAll(/[\u201c-\u201f\u2033]/g, '"')
    .replaceAll(/[\u2010-\u2015\u2212]/g, '-')
    .replaceAll(/(?![\n\r\t])[\s\u00a0]/g, ' ');

const rules: readonly Rule[] = [
  {
    note: 'line numbers at the beginning of the lines were left out',
    meant: (edit) => {
      const plain = withoutLineNumbers(edit);
      return plain && { ...edit, ...plain };
    },
    key: withoutReturn,
  },
  { note: 'blanks at the ends of lines differ', key: (line) => line.trimEnd() },
  {
    note: 'the indentation differs by the same in each line, and was given to the new text too',
    key: (line) => withoutReturn(line).replace(/^[ \t]+/, ''),
    shifts: true,
  },
  {
    note: 'quotes, dashes or blanks are of another form; those of the file were kept',
    key: plainSigns,
    isByCharacter: true,
  },
  { note: 'one level of escapes was taken off', meant: unescaped, key: withoutReturn },
  { note: 'one level of HTML entities was taken off', meant: withoutEntities, key: withoutReturn },
];

/** Of more text than this, nobody has copied whole lines by hand. */
const most = { text: 8 * 1024 * 1024, given: 256 * 1024, compared: 2e7 };

/**
 * The one run of whole lines that an edit means which is nowhere exactly; undefined when no rule finds one, or the
 * first that finds any finds several. Throws what encoding the new text throws.
 */
export async function matchLines(
  file: EditableText,
  text: string,
  edit: Edit,
): Promise<LineMatch | undefined> {
  if (text.length > most.text || edit.old.length > most.given || edit.old.trim() === '') return undefined;
  const lines = file.show(text).split('\n');
  for (const rule of rules) {
    const meant = rule.meant ? rule.meant(edit) : edit;
    if (!meant || meant.old.trim() === '' || meant.old === meant.new) continue;
    const given = linesGiven(meant);
    const found = runsAlike(lines, given.old, rule);
    if (found.length > 1) return undefined;
    const [start] = found;
    if (start !== undefined) return replacementOf({ file, text, lines, given, start, rule });
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
  const [was, is] = [withLf(old).split('\n'), withLf(fresh).split('\n')];
  const isEnded = was.length > 1 && was.at(-1) === '';
  if (!isEnded) return { old: was, new: is, takesEnd: false };
  const bothEnd = is.length > 1 && is.at(-1) === '';
  return { old: was.slice(0, -1), new: bothEnd ? is.slice(0, -1) : is, takesEnd: !bothEnd };
}

/** Where the given lines begin, at most two places. */
function runsAlike(lines: readonly string[], given: readonly string[], rule: Rule): number[] {
  if (lines.length * given.length > most.compared) return [];
  const [keys, wanted] = [lines.map(rule.key), given.map(rule.key)];
  const found: number[] = [];
  for (let at = 0; at + wanted.length <= keys.length && found.length < 2; at++) {
    if (!wanted.every((key, index) => key === keys[at + index])) continue;
    if (!rule.shifts || shiftOf(given, lines.slice(at, at + wanted.length))) found.push(at);
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
    line.trim() === '' ||
    (line.startsWith(from) && to + line.slice(from.length) === withoutReturn(there[index] ?? ''));
  return given.every(isShifted) ? { from, to } : undefined;
}

interface Replacing {
  readonly file: EditableText;
  readonly text: string;
  readonly lines: readonly string[];
  readonly given: GivenLines;
  readonly start: number;
  readonly rule: Rule;
}

/** Lines that the edit leaves as they are stay those of the file, byte for byte. */
async function replacementOf({
  file,
  text,
  lines,
  given,
  start,
  rule,
}: Replacing): Promise<LineMatch | undefined> {
  const { diffArrays } = await import('diff');
  const forms = text.split('\n');
  // Else a line of the form would not be that line as it is shown.
  if (forms.length !== lines.length) return undefined;
  const end = start + given.old.length;
  const shift = rule.shifts ? shiftOf(given.old, lines.slice(start, end)) : undefined;
  const cr = forms[start]?.endsWith('\r') ? '\r' : '';
  const pieces: string[] = [];
  let at = start;
  const changes = diffArrays([...given.old], [...given.new]);
  for (const [index, { added, removed, value }] of changes.entries()) {
    if (removed) at += value.length;
    else if (!added) pieces.push(...forms.slice(at, (at += value.length)));
    else {
      const before = changes[index - 1];
      const replaced = before?.removed && before.value.length === value.length ? before.value : [];
      for (const [row, line] of value.entries()) {
        const old = rule.isByCharacter ? replaced[row] : undefined;
        const there = lines[at - replaced.length + row] ?? '';
        const fresh = shift ? shifted(line, shift) : old === undefined ? line : withSigns(line, old, there);
        if (fresh === undefined) return undefined;
        pieces.push((await file.encode(fresh, 'new_string')) + cr);
      }
    }
  }
  const from = forms.slice(0, start).reduce((sum, { length }) => sum + length + 1, 0);
  const length = forms.slice(start, end).reduce((sum, each) => sum + each.length + 1, -1);
  const isLast = end === forms.length;
  // The last line of all may have no end, which is then none that goes.
  const to = from + length + (given.takesEnd && !isLast ? 1 : 0);
  const isGone = given.takesEnd && given.new.length === 1 && given.new[0] === '';
  const fresh = isGone ? '' : pieces.join('\n');
  return {
    from,
    to,
    fresh: isLast && !forms.at(-1)?.endsWith('\r') ? withoutReturn(fresh) : fresh,
    note: rule.note,
  };
}

/** Undefined for a line that begins further left than what is shifted. */
function shifted(line: string, { from, to }: { from: string; to: string }): string | undefined {
  if (line.trim() === '') return line;
  return line.startsWith(from) ? to + line.slice(from.length) : undefined;
}

/** A new line, whose beginning and end, as far as they were given like the old ones, are those of the file. */
function withSigns(fresh: string, old: string, there: string): string {
  const shown = withoutReturn(there);
  const least = Math.min(fresh.length, old.length);
  let [lead, trail] = [0, 0];
  while (lead < least && fresh[lead] === old[lead]) lead++;
  while (trail < least - lead && fresh.at(-1 - trail) === old.at(-1 - trail)) trail++;
  return shown.slice(0, lead) + fresh.slice(lead, fresh.length - trail) + shown.slice(shown.length - trail);
}
