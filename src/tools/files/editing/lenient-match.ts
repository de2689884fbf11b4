import { isUtf8 } from 'node:buffer';
import { lineStart } from '../text/line-at.ts';
import { sharedEnds, type Edit, type TextRange } from './edited-text.ts';

/** Whole lines that match an edit but for a difference that does not matter, which `note` describes. */
interface LineMatch extends TextRange {
  readonly replacement: string;
  readonly note: string;
}

/**
 * A way in which models often quote a text inexactly, and how the edit is still made without losing anything.
 */
interface MatchRule {
  readonly note: string;
  /** Rewrites the edit to the one that is meant; undefined when the rule does not apply. */
  rewrite?(edit: Edit): Edit | undefined;
  /** The part of a line that has to be equal; the whole line without it. */
  key?(line: string): string;
  /** Adapts a line of the new text to the style of the file; undefined when that is impossible. */
  adapt?(line: string, from: MatchedLines): string | undefined;
}

/** The lines of an edit and those of the file that match them. */
interface MatchedLines {
  readonly inEdit: readonly string[];
  readonly inFile: readonly string[];
  /** The index of the line that the new line replaces; undefined when lines are added or removed. */
  readonly at: number | undefined;
}

/** The rules, of which the first one that finds lines decides. */
const rules: readonly MatchRule[] = [
  { note: 'line numbers at the beginning of the lines were left out', rewrite: withoutLineNumbers },
  { note: 'blanks at the ends of lines differ', key: (line) => line.trimEnd() },
  {
    note: 'the indentation differs by the same in each line, and was given to the new text too',
    key: (line) => line.replace(/^[ \t]+/, ''),
    adapt: reindent,
  },
  {
    note: 'quotes, dashes or blanks are of another form; those of the file were kept',
    key: plainQuotes,
    adapt: withFileQuotes,
  },
  { note: 'one level of escapes was taken off', rewrite: withoutEscapes },
];

/** Limits of what is compared line by line, in bytes, characters and pairs of lines. */
const most = { text: 2 * 1024 * 1024, old: 256 * 1024, compared: 2e7 };

/**
 * Finds the lines of an edit by the first rule that finds any. Undefined when there are none, or several:
 * then nobody can know which lines are meant.
 */
export function matchLines(text: Buffer, edit: Edit): LineMatch | undefined {
  if (text.length > most.text || edit.old.length > most.old) return undefined;
  const lines = text.toString().split('\n');
  for (const rule of rules) {
    const rewritten = rule.rewrite ? rule.rewrite(edit) : edit;
    if (!rewritten || rewritten.old.trim() === '' || rewritten.old === rewritten.new) continue;
    const takesEnd = rewritten.old.endsWith('\n');
    const bothEnd = takesEnd && rewritten.new.endsWith('\n');
    const inEdit = rewritten.old.split('\n').slice(0, takesEnd ? -1 : undefined);
    const [start, other] = findLines(lines, inEdit, rule);
    if (other !== undefined) return undefined;
    if (start === undefined) continue;
    const inFile = lines.slice(start, start + inEdit.length);
    const newLines = rewritten.new.split('\n').slice(0, bothEnd ? -1 : undefined);
    // A line that the edit does not change stays exactly as it is in the file.
    const adapted = newLines.map((line, index) => {
      const unchanged = inFile[inEdit.indexOf(line)];
      const at = newLines.length === inEdit.length ? index : undefined;
      return unchanged ?? (rule.adapt ? rule.adapt(line, { inEdit, inFile, at }) : line);
    });
    const from = lineStart(text, start + 1);
    const next = lineStart(text, start + 1 + inEdit.length);
    // The last line of the file may have no line end that could be replaced.
    const to = next > text.length || (takesEnd && !bothEnd) ? Math.min(next, text.length) : next - 1;
    // Bytes that are not UTF-8 could not be written again.
    if (adapted.includes(undefined) || !isUtf8(text.subarray(from, to))) return undefined;
    const note = `old_string matched line ${start + 1}, but not exactly: ${rule.note}`;
    return { from, to, replacement: adapted.join('\n'), note };
  }
  return undefined;
}

/** Finds the first two places at which the lines of an edit begin, by the keys of a rule. */
function findLines(lines: readonly string[], inEdit: readonly string[], { key, adapt }: MatchRule): number[] {
  if (lines.length * inEdit.length > most.compared) return [];
  const [keys, wantedKeys] = key ? [lines.map(key), inEdit.map(key)] : [lines, inEdit];
  const starts: number[] = [];
  for (let at = 0; at + wantedKeys.length <= keys.length && starts.length < 2; at++) {
    if (!wantedKeys.every((wanted, index) => wanted === keys[at + index])) continue;
    const inFile = lines.slice(at, at + wantedKeys.length);
    // The indentation has to differ by the same in each line.
    const isSame = (line: string, index: number) =>
      line.trim() === '' || reindent(line, { inEdit, inFile }) === inFile[index];
    if (adapt !== reindent || inEdit.every(isSame)) starts.push(at);
  }
  return starts;
}

/** A line number as read_file, cat -n and editors put it before a line. */
const lineNumber = /^[ \t]*(\d{1,9})[\t→]/;

/**
 * Removes line numbers that were copied with the text. In `old`, each has to be one higher than the one
 * before. In `new`, all lines or none have to have one: with only some, nobody can know what is meant.
 */
function withoutLineNumbers(edit: Edit): Edit | undefined {
  const numbers = (text: string) =>
    text
      .replace(/\n$/, '')
      .split('\n')
      .map((line) => Number(lineNumber.exec(line)?.[1]));
  const stripped = (text: string) => text.replaceAll(new RegExp(lineNumber, 'gm'), '');
  if (!lineNumber.test(edit.old)) return undefined;
  const oldNumbers = numbers(edit.old);
  const newNumbers = numbers(edit.new);
  const isRising = oldNumbers.every((number, index) => number === (oldNumbers[0] ?? NaN) + index);
  const isMixed = newNumbers.some(Number.isNaN) && !newNumbers.every(Number.isNaN);
  if (!isRising || isMixed) return undefined;
  return { ...edit, old: stripped(edit.old), new: stripped(edit.new) };
}

const entities: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', '#39': "'", amp: '&' };
const escapes: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t' };

/** Removes one level of escapes, or of the entities of HTML. */
function withoutEscapes(edit: Edit): Edit | undefined {
  const withoutBackslashes = (text: string) =>
    text.replaceAll(/\\([nrt"'`\\])/g, (_, sign: string) => escapes[sign] ?? sign);
  const withoutEntities = (text: string) =>
    text.replaceAll(/&(lt|gt|quot|#39|amp);/g, (_, name: string) => entities[name] ?? name);
  const unescape = withoutBackslashes(edit.old) === edit.old ? withoutEntities : withoutBackslashes;
  if (unescape(edit.old) === edit.old) return undefined;
  return { ...edit, old: unescape(edit.old), new: unescape(edit.new) };
}

/** Replaces typographic quotes, dashes and blanks, one character by one, so that positions stay the same. */
function plainQuotes(line: string): string {
  return line
    .replaceAll(/[\u2018-\u201b\u2032]/g, "'")
    .replaceAll(/[\u201c-\u201f\u2033]/g, '"')
    .replaceAll(/[\u2010-\u2015\u2212]/g, '-')
    .replaceAll(/(?!\t)\s/g, ' ');
}

/** Keeps the beginning and the end of the line in the file, as far as the edit leaves them unchanged. */
function withFileQuotes(line: string, { inEdit, inFile, at }: MatchedLines): string {
  const [old, current] = at === undefined ? [] : [inEdit[at], inFile[at]];
  if (old === undefined || current === undefined) return line;
  const { lead, trail } = sharedEnds(line.split(''), old.split(''));
  const middle = line.slice(lead, line.length - trail);
  return current.slice(0, lead) + middle + current.slice(current.length - trail);
}

function indentOf(line = ''): string {
  return /^[ \t]*/.exec(line)?.[0] ?? '';
}

/** Indents a line like those of the file; undefined when the line begins further left than the first one. */
function reindent(line: string, { inEdit, inFile }: Omit<MatchedLines, 'at'>): string | undefined {
  const first = inEdit.findIndex((text) => text.trim() !== '');
  let from = indentOf(inEdit[first]);
  let to = indentOf(inFile[first]);
  while (from !== '' && from.at(-1) === to.at(-1)) {
    from = from.slice(0, -1);
    to = to.slice(0, -1);
  }
  if (line.trim() === '') return line;
  return line.startsWith(from) ? to + line.slice(from.length) : undefined;
}
