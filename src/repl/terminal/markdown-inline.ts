import type { Paint } from './terminal.ts';

/** How much of the text was used, and what is shown for it. */
export interface Piece {
  readonly length: number;
  readonly shown: string;
}

/** A construct that has not closed within so many characters is none: nobody waits longer for the text to go on. */
const longest = 300;
/** Constructs inside constructs; deeper ones are left as text. */
const deepest = 3;
const special = /[`*_~[!\\<]/;
const code = '`[^`]*`';
/** What may stand in emphasis: code as a whole, escapes, anything else. */
const inner = `((?:${code}|\\\\.|[^\`\\\\])+?)`;
const constructs = [
  /(?<escape>\\([\\`*_[\]#|~<>!+.-]))/,
  /(?<code>(`+)(?!`)([^]*?[^`])\2(?!`))/,
  /(?<address><(https?:\/\/[^\s<>]+)>)/,
  // Its text may have brackets, its address parentheses.
  new RegExp(
    String.raw`(?<link>!?\[((?:${code}|\\.|[^[\]\\${'`'}]|\[(?:\\.|[^[\]\\])*\])*)\]` +
      String.raw`\(\s*(?:<([^<>]*)>|((?:[^\s()\\]|\\.|\([^\s()]*\))*))(\s+(?:"[^"]*"|'[^']*'))?\s*\))`,
  ),
  new RegExp(`(?<struck>~~(?![\\s~])${inner}(?<![\\s~])~~(?!~))`),
  new RegExp(`(?<both>\\*\\*\\*(?![\\s*])${inner}(?<![\\s*])\\*\\*\\*(?!\\*))`),
  new RegExp(`(?<strong>\\*\\*(?![\\s*])${inner}(?<!\\s)\\*\\*(?!\\*))`),
  new RegExp(`(?<strong_>__(?![\\s_])${inner}(?<!\\s)__(?![\\p{L}\\p{N}_]))`, 'u'),
  new RegExp(`(?<slanted>\\*(?![\\s*])${inner}(?<![\\s*])\\*(?!\\*))`),
  new RegExp(`(?<slanted_>_(?![\\s_])${inner}(?<![\\s_])_(?![\\p{L}\\p{N}_]))`, 'u'),
].map(({ source }) => new RegExp(source, 'yu'));

/**
 * The next piece of a line of Markdown; undefined when that depends on what comes after the text. `before`: the text of
 * its line before it; `ended`: nothing of its line comes after it. What is given for a text is given for every text
 * that begins with it: where the chunks of a stream end makes no difference. Kept on purpose as they are, unlike in
 * CommonMark: `2*3*4`, `__init__`, the underscores of a bare address.
 */
export function nextPiece(
  text: string,
  { before, ended }: { readonly before: string; readonly ended: boolean },
  paint: Paint,
  depth = 0,
): Piece | undefined {
  const begin = text.search(special);
  if (begin !== 0) return literal(text, begin < 0 ? text.length : begin);
  const window = text.slice(0, longest);
  const whole = ended && text.length <= longest;
  const run = /^(?:`+|\*+|_+|~+|[^])/.exec(window)?.[0] ?? '';
  const mayOpen = !before.endsWith(run.charAt(0)) && opens(run.charAt(0), before, window.charAt(run.length));
  if (!whole && window.length === run.length && text.length <= longest && mayOpen) return undefined;
  if (mayOpen)
    for (const construct of constructs) {
      construct.lastIndex = 0;
      const found = construct.exec(window);
      // What comes next may make its end another one.
      if (found && (whole || found[0].length < window.length)) return pieceOf(found, paint, depth);
      if (found && text.length <= longest) return undefined;
    }
  if (mayOpen && !ended && text.length <= longest) return undefined;
  return literal(text, run.length);
}

/** A whole line, or a part of one, at once. */
export function inline(text: string, paint: Paint, depth = 0): string {
  if (depth > deepest) return text;
  let shown = '';
  let at = 0;
  while (at < text.length) {
    const around = { before: text.slice(Math.max(0, at - longest), at), ended: true };
    const piece = nextPiece(text.slice(at), around, paint, depth) ?? literal(text.slice(at), 1);
    shown += piece.shown;
    at += piece.length;
  }
  return shown;
}

const literal = (text: string, length: number): Piece => ({ length, shown: text.slice(0, length) });

/** Whether a construct can begin with a character where it stands. */
function opens(first: string, before: string, next: string): boolean {
  const previous = before.at(-1) ?? ' ';
  if (first === '*') return !(/\w/.test(previous) && /\w/.test(next));
  return first !== '_' || (!/[\p{L}\p{N}]/u.test(previous) && !/:\/\/[^\s<>()]*$/.test(before));
}

function pieceOf({ 0: whole, groups = {}, ...found }: RegExpExecArray, paint: Paint, depth: number): Piece {
  const [kind = ''] = Object.entries(groups).find(([, text]) => text !== undefined) ?? [];
  const said = found[2] ?? '';
  const within = (text: string) => inline(text, paint, depth + 1);
  const length = whole.length;
  switch (kind) {
    case 'escape':
      return { length, shown: said };
    case 'code': {
      const code = found[3] ?? '';
      return { length, shown: paint.code(/^ .*[^ ].* $/.test(code) ? code.slice(1, -1) : code) };
    }
    case 'address':
      return { length, shown: paint.link(said) };
    case 'link': {
      const url = found[3] ?? found[4] ?? '';
      // Shown with its address, which the text may lie about.
      if (said === url || `mailto:${said}` === url) return { length, shown: paint.link(said) };
      const shown = within(said);
      return {
        length,
        shown: url === '' ? shown : `${shown} (${paint.link(url)}${found[5] ?? ''})`.trimStart(),
      };
    }
    case 'struck': {
      const shown = within(said);
      // Without the line through it, it would say the opposite.
      return { length, shown: paint.struck(shown) === shown ? `~~${shown}~~` : paint.struck(shown) };
    }
    case 'both':
      return { length, shown: paint.strong(paint.emphasis(within(said))) };
    case 'strong':
    case 'strong_':
      if (kind === 'strong_' && /^\w+$/.test(said)) return literal(whole, length);
      return { length, shown: paint.strong(within(said)) };
    default:
      return { length, shown: paint.emphasis(within(said)) };
  }
}
