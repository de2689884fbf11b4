import type { Paint } from './paint.ts';
import { plain, type Style } from './prose.ts';

interface Span {
  readonly text: string;
  readonly style: Style;
}

/** A construct that has not closed within so many characters is none: nobody waits longer for the text to go on. */
export const longest = 300;
/** Constructs inside constructs; deeper ones are left as text. */
const deepest = 3;
const special = /[`*_~[!\\<]/g;
const code = '`[^`]*`';
/** What may stand in emphasis: code as a whole, escapes, anything else. */
const inner = `(?:${code}|\\\\.|[^\`\\\\])+?`;
/** Kept as they are, unlike in CommonMark: `2*3*4`, `snake_case`, the underscores of a bare address. */
const star = String.raw`(?<!\*)(?<!\w(?=\*+\w))`;
const underscore = String.raw`(?<![\p{L}\p{N}_])(?<!:\/\/[^\s<>()]{0,300})`;
const construct = new RegExp(
  [
    String.raw`\\(?<escape>[\\${'`'}*_[\]#|~<>!+.\-])`,
    '(?<!`)(?<ticks>`+)(?!`)(?<code>[^]*?[^`])\\k<ticks>(?!`)',
    String.raw`<(?<address>https?:\/\/[^\s<>]+)>`,
    // Its text may have brackets, its address parentheses.
    String.raw`!?\[(?<label>(?:${code}|\\.|[^[\]\\${'`'}]|\[(?:\\.|[^[\]\\])*\])*)\]` +
      String.raw`\(\s*(?:<(?<bracketed>[^<>]*)>|(?<url>(?:[^\s()\\]|\\.|\([^\s()]*\))*))` +
      String.raw`(?<title>\s+(?:"[^"]*"|'[^']*'))?\s*\)`,
    `(?<!~)~~(?![\\s~])(?<struck>${inner})(?<![\\s~])~~(?!~)`,
    `${star}\\*\\*\\*(?![\\s*])(?<both>${inner})(?<![\\s*])\\*\\*\\*(?!\\*)`,
    `${star}\\*\\*(?![\\s*])(?<strong>${inner})(?<!\\s)\\*\\*(?!\\*)`,
    `${underscore}__(?![\\s_])(?<strong_>${inner})(?<!\\s)__(?![\\p{L}\\p{N}_])`,
    `${star}\\*(?![\\s*])(?<slanted>${inner})(?<![\\s*])\\*(?!\\*)`,
    `${underscore}_(?![\\s_])(?<slanted_>${inner})(?<![\\s_])_(?![\\p{L}\\p{N}_])`,
  ].join('|'),
  'yu',
);
/** What begins no construct, whatever comes after it. */
const closed =
  /[*_~]+(?=\s)|(?<=\w)\*+(?=\w)|(?<=[\p{L}\p{N}])_+|!(?=[^[])|<(?=[^h])|~(?=[^~])|\[[^[\]\\`]*\](?=[^(])/uy;
const run = /`+|\*+|_+|~+|[^]/uy;

const matchAt = (pattern: RegExp, text: string, at: number): RegExpExecArray | null => {
  pattern.lastIndex = at;
  return pattern.exec(text);
};

/**
 * The next piece of a line of Markdown, from `at` on; undefined when that depends on what comes after the text, of
 * which nothing does when it has `ended`. Where the chunks of a stream end makes no difference.
 */
export function nextPiece(
  text: string,
  { at, ended }: { readonly at: number; readonly ended: boolean },
  paint: Paint,
  depth = 0,
): { readonly end: number; readonly spans: readonly Span[] } | undefined {
  if (at >= text.length) return undefined;
  special.lastIndex = at;
  const begin = special.exec(text)?.index ?? text.length;
  const literal = (end: number) => ({ end, spans: [{ text: text.slice(at, end), style: plain }] });
  if (begin > at) return literal(begin);
  const none = matchAt(closed, text, at);
  if (none) return literal(at + none[0].length);
  const found = matchAt(construct, text, at);
  const isShort = text.length - at <= longest;
  if (found && found[0].length <= longest) {
    const end = at + found[0].length;
    // What comes next may make its end another one.
    if (!ended && end === text.length && isShort) return undefined;
    return { end, spans: spansOf(found, paint, depth) };
  }
  if (!ended && isShort) return undefined;
  return literal(at + (matchAt(run, text, at)?.[0].length ?? 1));
}

/** A whole line, or a part of one, at once. */
export const inline = (text: string, paint: Paint): string =>
  spansIn(text, paint, 0)
    .map((span) => span.style(span.text))
    .join('');

function spansIn(text: string, paint: Paint, depth: number): Span[] {
  if (depth > deepest) return [{ text, style: plain }];
  const spans: Span[] = [];
  for (let at = 0; ;) {
    const piece = nextPiece(text, { at, ended: true }, paint, depth);
    if (!piece) return spans;
    spans.push(...piece.spans);
    at = piece.end;
  }
}

function spansOf({ 0: whole, groups = {} }: RegExpExecArray, paint: Paint, depth: number): Span[] {
  const { escape, code: quoted, address, label, both, struck, strong_: underscored } = groups;
  const within = (text: string, style: Style) =>
    spansIn(text, paint, depth + 1).map((span) => ({
      text: span.text,
      style: (given: string) => style(span.style(given)),
    }));
  if (escape !== undefined) return [{ text: escape, style: plain }];
  if (quoted !== undefined)
    return [{ text: /^ .*[^ ].* $/.test(quoted) ? quoted.slice(1, -1) : quoted, style: paint.code }];
  if (address !== undefined) return [{ text: address, style: paint.link }];
  if (label !== undefined) {
    const url = groups['bracketed'] ?? groups['url'] ?? '';
    // Shown with its address, which the text may lie about.
    if (label === url || `mailto:${label}` === url) return [{ text: label, style: paint.link }];
    if (url === '') return within(label, plain);
    const spans = [...within(label, plain), { text: `${label === '' ? '' : ' '}(`, style: plain }];
    return [...spans, { text: url, style: paint.link }, { text: `${groups['title'] ?? ''})`, style: plain }];
  }
  // Without the line through it, it would say the opposite.
  if (struck !== undefined)
    return paint.struck('x') === 'x' ? [{ text: whole, style: plain }] : within(struck, paint.struck);
  if (both !== undefined) return within(both, (text) => paint.strong(paint.emphasis(text)));
  // `__init__`
  if (underscored !== undefined && /^\w+$/.test(underscored)) return [{ text: whole, style: plain }];
  const strong = groups['strong'] ?? underscored;
  if (strong !== undefined) return within(strong, paint.strong);
  return within(groups['slanted'] ?? groups['slanted_'] ?? '', paint.emphasis);
}
