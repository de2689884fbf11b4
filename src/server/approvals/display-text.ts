import { unseen } from '../../core/unseen.ts';

/**
 * Characters that are not seen, but for blanks and ends of lines; and what begins our own way to say so, so
 * that nobody can imitate it.
 */
const hidden = new RegExp(
  String.raw`(?![\n\t])(?:${unseen.source})|\u27e8|\\(?=u\{)|(?<=\p{M}{4})\p{M}`,
  'gu',
);
/** Enough to push what follows out of the window. */
const wide = /[ \t]{60,}/g;
const tall = /\n(?:[ \t]*\n){8,}/g;

const spelled = (characters: string): string =>
  Array.from(characters, (one) => `\\u{${(one.codePointAt(0) ?? 0).toString(16)}}`).join('');

/**
 * A text such that a person sees all that it is made of, its lines kept: what cannot be seen is spelled like
 * `\u{202e}`, and blanks that go on and on are counted: `⟨200 blanks⟩`.
 */
export const displayText = (text: string): string =>
  text
    .replaceAll('\r\n', '\n')
    .replace(hidden, spelled)
    .replace(wide, (blanks) => `⟨${counted(blanks.length)} blanks⟩`)
    .replace(tall, (lines) => `\n⟨${counted(lines.split('\n').length - 2)} empty lines⟩\n`);

/** A display text that is to be one line. */
export const displayLine = (text: string): string => displayText(text).replaceAll(/[\n\t]/g, spelled);

/** Characters of East Asia and pictures, which take two columns of a terminal. */
const broad = new RegExp(
  String.raw`[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]` +
    String.raw`|[\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]`,
  'gu',
);

/** The columns of a line in a terminal. */
export const columnsOf = (line: string): number => [...line].length + (line.match(broad)?.length ?? 0);

/** The beginning of a line that fits into so many columns. */
function headIn(line: string, most: number): string {
  let columns = 0;
  let head = '';
  for (const character of line) {
    columns += columnsOf(character);
    if (columns > most) break;
    head += character;
  }
  return head;
}

const cutNote = (line: string): string => `(${counted(columnsOf(line))} characters, the end is not shown) `;

/** A line of so many columns at most; a longer one says so at its beginning. */
export function cutLine(line: string, most: number): string {
  if (columnsOf(line) <= most) return line;
  const note = cutNote(line);
  return `${note}${headIn(line, Math.max(0, most - note.length - 2))} …`;
}

/**
 * A line as two of so many characters at most, broken at a blank where both are short enough then. A longer
 * one says so at its beginning.
 */
export function wrapped(line: string, width: number): [string, string] {
  const isLong = columnsOf(line) > 2 * width;
  const text = isLong ? `${cutNote(line)}${line}` : line;
  const head = headIn(text, width + 1);
  const blank = head.lastIndexOf(' ') + 1;
  const fits = (at: number) => columnsOf(text.slice(at)) <= width;
  const at = blank > 0 && (isLong || fits(blank)) ? blank : headIn(text, width).length;
  const second = fits(at) ? text.slice(at) : `${headIn(text.slice(at), width - 2)} …`;
  return [text.slice(0, at).trimEnd(), second];
}

/**
 * A text in plain sight, each of its lines behind a bar, so that none can pass for a line of ours; of a
 * longer one than so many characters the head and the tail, and between them how much is left out.
 */
export function quoted(text: string, most: number): string {
  // Some hosts show no tabs.
  const shown = displayText(text).replace(/\n$/, '').replaceAll('\t', '    ');
  if (shown.length <= most) return behindBars(shown);
  const head = wholeEnd(shown.slice(0, most / 2));
  const tail = wholeStart(shown.slice(-most / 2));
  const omitted = shown.length - head.length - tail.length;
  return `${behindBars(head)}\n⟨${counted(omitted)} characters are left out here⟩\n${behindBars(tail)}`;
}

const behindBars = (text: string): string => text.replaceAll(/^/gm, '| ');

const wholeEnd = (text: string): string => text.replace(/[\ud800-\udbff]$/, '');
const wholeStart = (text: string): string => text.replace(/^[\udc00-\udfff]/, '');

const counted = (count: number): string => count.toLocaleString('en');
