/**
 * Whatever is not seen, or seen as something else: controls, blanks other than the usual ones, marks that reorder
 * or hide, halves of characters, characters that have no look. And what begins our own way to say so, so that
 * nobody can imitate it.
 */
const unseen =
  /(?![ \n\t])[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800\u27e8]|\\(?=u\{)|(?<=\p{M}{4})\p{M}/gu;
/** Enough to push what follows out of the window. */
const wide = /[ \t]{60,}/g;
const tall = /\n(?:[ \t]*\n){8,}/g;

const spelled = (characters: string): string =>
  Array.from(characters, (one) => `\\u{${(one.codePointAt(0) ?? 0).toString(16)}}`).join('');

/**
 * A text such that a person sees all that it is made of, its lines kept: what cannot be seen is spelled like
 * `\u{202e}`, and blanks that go on and on are counted: `⟨200 blanks⟩`.
 */
export const inPlainSight = (text: string): string =>
  text
    .replaceAll('\r\n', '\n')
    .replace(unseen, spelled)
    .replace(wide, (blanks) => `⟨${counted(blanks.length)} blanks⟩`)
    .replace(tall, (lines) => `\n⟨${counted(lines.split('\n').length - 2)} empty lines⟩\n`);

/** The same for a text that is to be one line. */
export const inOneLine = (text: string): string => inPlainSight(text).replaceAll(/[\n\t]/g, spelled);

/** A line of so many characters at most; a longer one says so at its beginning. */
export function cutLine(line: string, most: number): string {
  if (line.length <= most) return line;
  const note = `(${counted(line.length)} characters, the end is not shown) `;
  return `${note}${wholeEnd(line.slice(0, Math.max(0, most - note.length - 2)))} …`;
}

/** A line as two of so many characters at most, broken at a blank where there is one near the end of the first. */
export function wrapped(line: string, width: number): [string, string] {
  const blank = line.lastIndexOf(' ', width);
  const rest = line.length - blank - 1;
  const at = blank > 0 && rest <= width ? blank + 1 : width;
  return [wholeEnd(line.slice(0, at)).trimEnd(), line.slice(wholeEnd(line.slice(0, at)).length)];
}

/**
 * A text in plain sight, each of its lines behind a bar, so that none can pass for a line of ours; of a longer one than
 * so many characters the head and the tail, and between them how much is left out.
 */
export function quoted(text: string, most: number): string {
  // Some hosts show no tabs.
  const shown = inPlainSight(text).replace(/\n$/, '').replaceAll('\t', '    ');
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
