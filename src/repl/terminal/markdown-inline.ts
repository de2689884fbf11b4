import type { Paint } from './paint.ts';

/** A construct that has not closed within so many characters is none: nobody waits longer for the text to go on. */
export const longest = 300;
/** Constructs inside constructs; deeper ones are left as text. */
const deepest = 3;
const special = /[`*_~[!\\<]/g;
/** What may stand in emphasis: code as a whole, escapes, anything else. */
const inner = '(?:`[^`]*`|\\\\.|[^`\\\\])+?';
const construct = new RegExp(
  [
    String.raw`\\(?<escape>[\\${'`'}*_[\]#|~<>!+.\-])`,
    '(?<!`)(?<ticks>`+)(?!`)(?<code>[^]*?[^`])\\k<ticks>(?!`)',
    String.raw`<(?<address>https?:\/\/[^\s<>]+)>`,
    // Its text may have brackets, its address parentheses.
    String.raw`!?\[(?<label>(?:\\.|[^[\]\\]|\[(?:\\.|[^[\]\\])*\])*)\]` +
      String.raw`\((?<url>(?:[^\s()\\]|\\.|\([^\s()]*\))*)(?:\s+"[^"]*")?\)`,
    // Kept as they are, unlike in CommonMark: `2*3*4`, `snake_case`, `__init__`, the underscores of a bare address.
    String.raw`(?<![\w*~])(?<mark>\*{1,3}|~~)(?![\s*~])(?<marked>${inner})(?<![\s*~])\k<mark>(?![*~])`,
    String.raw`(?<![\p{L}\p{N}_])(?<!:\/\/[^\s<>()]{0,300})_(?![\s_])(?<slanted>${inner})(?<![\s_])_(?![\p{L}\p{N}_])`,
  ].join('|'),
  'yu',
);
/** What begins no construct, whatever comes after it. */
const closed =
  /[*_~]+(?=\s)|(?<=\w)\*+(?=\w)|(?<=[\p{L}\p{N}])_+|__+|!(?=[^[])|<(?=[^h])|~(?=[^~])|\[[^[\]\\`]*\](?=[^(])/uy;
const run = /`+|\*+|_+|~+|[^]/uy;

const matchAt = (pattern: RegExp, text: string, at: number): RegExpExecArray | null => {
  pattern.lastIndex = at;
  return pattern.exec(text);
};

interface Piece {
  /** Where the next one begins. */
  readonly end: number;
  /** As it is shown. */
  readonly text: string;
}

/**
 * The next piece of a line of Markdown, from `at` on; undefined when that depends on what comes after the text, of
 * which nothing does when it has `ended`.
 */
export function nextPiece(
  text: string,
  { at, ended }: { readonly at: number; readonly ended: boolean },
  paint: Paint,
  depth = 0,
): Piece | undefined {
  if (at >= text.length) return undefined;
  const literal = (end: number) => ({ end, text: text.slice(at, end) });
  special.lastIndex = at;
  const begin = special.exec(text)?.index ?? text.length;
  if (begin > at) return literal(begin);
  const none = matchAt(closed, text, at);
  if (none) return literal(at + none[0].length);
  const found = matchAt(construct, text, at);
  const end = at + (found?.[0].length ?? 0);
  const mayGoOn = !ended && text.length - at <= longest;
  // What comes next may make its end another one.
  if (mayGoOn && (!found || end === text.length)) return undefined;
  if (found && found[0].length <= longest && depth < deepest)
    return { end, text: styled(found, paint, depth) };
  return literal(at + (matchAt(run, text, at)?.[0].length ?? 1));
}

/** A whole line, or a part of one, at once. */
export function inline(text: string, paint: Paint, depth = 0): string {
  let shown = '';
  for (let at = 0; ;) {
    const piece = nextPiece(text, { at, ended: true }, paint, depth);
    if (!piece) return shown;
    shown += piece.text;
    at = piece.end;
  }
}

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
