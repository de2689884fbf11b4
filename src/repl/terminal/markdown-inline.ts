import type { Paint } from './paint.ts';

/**
 * A construct that has not closed within so many characters is none: nobody waits longer for the text to go
 * on.
 */
export const longest = 300;
/** Constructs inside constructs; deeper ones are left as text. */
const deepest = 3;
const special = /[`*_~[!\\<]/g;
/** The text that may stand in emphasis: code as a whole, escapes, anything else. */
const inner = `(?:\`[^\`]*\`|\\\\.|[^\`\\\\]){1,${longest}}?`;
// Kept as they are, unlike in CommonMark: `2*3*4`, `snake_case`, `__init__`, the underscores of a bare
// address.
const star = String.raw`(?<![\w*~])`;
const low = String.raw`(?<![\p{L}\p{N}_])(?<!:\/\/[^\s<>()]{0,300})`;
const construct = new RegExp(
  [
    String.raw`\\(?<escape>[\\${'`'}*_[\]#|~<>!+.\-])`,
    `(?<!\`)(?<ticks>\`+)(?!\`)(?<code>[^]{0,${longest}}?[^\`])\\k<ticks>(?!\`)`,
    String.raw`<(?<address>https?:\/\/[^\s<>]{1,${longest}})>`,
    // Its text may have brackets, its address parentheses.
    String.raw`!?\[(?<label>(?:\\.|[^[\]\\]|\[(?:\\.|[^[\]\\]){0,${longest}}\]){0,${longest}})\]` +
      String.raw`\((?<url>(?:[^\s()\\]|\\.|\([^\s()]*\))*)(?:\s+"[^"]*")?\)`,
    String.raw`${star}(?<mark>\*{1,3}|~~)(?![\s*~])(?<marked>${inner})(?<![\s*~])\k<mark>(?![*~])`,
    String.raw`${low}_(?![\s_])(?<slanted>${inner})(?<![\s_])_(?![\p{L}\p{N}_])`,
  ].join('|'),
  'yu',
);
/** The text that begins a construct, or may once the text goes on. */
const opener = new RegExp(
  [
    '\\\\$|(?<!`)`|<(?=h|$)|!$',
    String.raw`\[(?![^[\]\\${'`'}]*\][^(])`,
    String.raw`${star}(?:\*{1,3}(?=[^\s*]|$)|~(?:$|~(?=[^\s~]|$)))`,
    String.raw`${low}_(?=[^\s_]|$)`,
  ].join('|'),
  'yu',
);

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

/**
 * Renders a line of Markdown from `from` on, and tells where what comes after it may change that; at its end
 * when it has `ended`.
 */
export function inlineFrom(
  line: string,
  { from, ended, depth = 0 }: { readonly from: number; readonly ended: boolean; readonly depth?: number },
  paint: Paint,
): { readonly shown: string; readonly end: number } {
  let shown = '';
  for (let at = from; ;) {
    special.lastIndex = at;
    const begin = special.exec(line)?.index ?? line.length;
    shown += line.slice(at, begin);
    if (begin === line.length) return { shown, end: begin };
    const found = depth < deepest ? matchAt(construct, line, begin) : null;
    at = begin + (found?.[0].length ?? 1);
    // What comes next may make the end of a construct another one.
    const isOpen = found ? at === line.length : matchAt(opener, line, begin) !== null;
    if (isOpen && !ended && line.length - begin <= longest) return { shown, end: begin };
    shown += found ? styled(found, paint, depth) : line.slice(begin, at);
  }
}

/** A whole line at once. */
export const inline = (text: string, paint: Paint, depth = 0): string =>
  inlineFrom(text, { from: 0, ended: true, depth }, paint).shown;

function styled({ 0: whole, groups = {} }: RegExpExecArray, paint: Paint, depth: number): string {
  const { escape, code, address, label, url = '', mark, marked, slanted } = groups;
  const within = (text = '') => inline(text, paint, depth + 1);
  if (escape !== undefined) return escape;
  if (code !== undefined) return paint.code(/^ .*[^ ].* $/.test(code) ? code.slice(1, -1) : code);
  if (address !== undefined) return paint.link(address);
  // A link is shown with its address, which the text may lie about.
  if (label !== undefined)
    return label === url ? paint.link(url) : `${within(label)}${label && ' '}(${paint.link(url)})`;
  // Without the line through it, it would say the opposite.
  if (mark === '~~') return paint.struck('x') === 'x' ? whole : paint.struck(within(marked));
  if (mark === '***') return paint.strong(paint.emphasis(within(marked)));
  return mark === '**' ? paint.strong(within(marked)) : paint.emphasis(within(marked ?? slanted));
}
