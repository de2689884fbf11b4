import type { Paint } from './terminal.ts';

/** How much of the text was used, and what is shown for it. */
export interface Piece {
  readonly length: number;
  readonly shown: string;
}

/** What stands around a piece of text. */
export interface Around {
  /** The text of its line before it, or the end of that: enough for the word that it is in. */
  readonly before: string;
  /** Nothing of its line comes after it. */
  readonly ended: boolean;
}

/** A construct that has not closed within so many characters is none: nobody waits longer for the text to go on. */
const longest = 300;
/** Constructs inside constructs; deeper ones are left as text, so that hostile text costs no more than long text. */
const deepest = 3;
/** More than this open at once inside one of them is no text that somebody means. */
const mostOpen = 8;
const special = /[`*_~[!\\<]/;
const escapable = /[\\`*_[\]#|~<>!+.-]/;
const destination =
  /\(\s*(?:<([^<>]*)>|((?:[^\s()\\]|\\.|\((?:[^\s()\\]|\\.)*\))*))(\s+(?:"[^"]*"|'[^']*'|\([^()]*\)))?\s*\)/y;

/**
 * The next piece of a line of Markdown; undefined when that depends on what comes after the text. What is given for
 * a text is given for every text that begins with it: where the chunks of a stream end makes no difference.
 */
export function nextPiece(text: string, around: Around, paint: Paint, depth = 0): Piece | undefined {
  const begin = text.search(special);
  if (begin !== 0) return literal(text, begin < 0 ? text.length : begin);
  const window = text.slice(0, longest);
  const ended = around.ended && text.length <= longest;
  const found = construct(window, { before: around.before, ended }, paint, depth);
  if (typeof found === 'object') return found;
  if (found === 'open' && !around.ended && text.length <= longest) return undefined;
  return literal(text, runLength(window, 0));
}

/** A whole line, or a part of one, at once. */
export function inline(text: string, paint: Paint, depth = 0): string {
  if (depth > deepest) return text;
  let shown = '';
  let at = 0;
  while (at < text.length) {
    const around = { before: text.slice(Math.max(0, at - longest), at), ended: true };
    const piece =
      nextPiece(text.slice(at), around, paint, depth) ?? literal(text.slice(at), text.length - at);
    shown += piece.shown;
    at += piece.length;
  }
  return shown;
}

const literal = (text: string, length: number): Piece => ({ length, shown: text.slice(0, length) });

/** `open`: what comes next decides, if anything comes. `none`: it stands for itself. */
function construct(text: string, around: Around, paint: Paint, depth: number): Piece | 'open' | 'none' {
  const first = text[0];
  // The rest of a run that was too long to mean anything, or whose beginning has been used.
  if (around.before.endsWith(first ?? '') && /[`*_~]/.test(first ?? '')) return 'none';
  if (first === '`') return codeSpan(text, around, paint);
  if (first === '[') return link(text, 0, around, { paint, depth });
  if (first === '<') return address(text, paint);
  if (text.length === 1) return 'open';
  if (first === '\\') return escapable.test(text[1] ?? '') ? { length: 2, shown: text[1] ?? '' } : 'none';
  if (first === '!') return text[1] === '[' ? link(text, 1, around, { paint, depth }) : 'none';
  return first === '~' ? struck(text, paint, depth) : emphasis(text, around, paint, depth);
}

function runLength(text: string, at: number): number {
  let end = at + 1;
  if (/[`*_~]/.test(text[at] ?? '')) while (text[end] === text[at]) end++;
  return end - at;
}

/**
 * Where the code span that begins here ends; -1 when it does not. A run at the end of the text may go on, unless it
 * ended.
 */
function codeEnd(text: string, at: number, ended: boolean): number {
  const run = runLength(text, at);
  let close = text.indexOf('`', at + run);
  while (close >= 0) {
    const length = runLength(text, close);
    if (length === run && (ended || close + length < text.length)) return close + length;
    close = text.indexOf('`', close + length);
  }
  return -1;
}

function codeSpan(text: string, { ended }: Around, paint: Paint): Piece | 'open' {
  const length = codeEnd(text, 0, ended);
  if (length < 0) return 'open';
  const run = runLength(text, 0);
  const code = text.slice(run, length - run);
  const bare = /^ .*[^ ].* $/.test(code) ? code.slice(1, -1) : code;
  return { length, shown: paint.code(bare) };
}

function struck(text: string, paint: Paint, depth: number): Piece | 'open' | 'none' {
  if (/^~~?$/.test(text)) return 'open';
  const end = text.indexOf('~', 2);
  if (!/^~~[^\s~]/.test(text) || /\s/.test(text[end - 1] ?? '')) return 'none';
  if (end < 0 || end === text.length - 1) return 'open';
  if (text[end + 1] !== '~') return 'none';
  const inner = inline(text.slice(2, end), paint, depth + 1);
  const shown = paint.struck(inner);
  // Without the line through it, it would say the opposite.
  return { length: end + 2, shown: shown === inner ? `~~${inner}~~` : shown };
}

function address(text: string, paint: Paint): Piece | 'open' | 'none' {
  const url = /^<(https?:\/\/[^\s<>]+)>/.exec(text);
  if (url) return { length: url[0].length, shown: paint.link(url[1] ?? '') };
  const begins = ['<http://', '<https://'].some((start) => start.startsWith(text));
  return begins || /^<https?:\/\/[^\s<>]+$/.test(text) ? 'open' : 'none';
}

/** `[text](address "title")` is shown with its address, which the text may lie about. */
function link(
  text: string,
  at: number,
  { ended }: Around,
  look: { paint: Paint; depth: number },
): Piece | 'open' | 'none' {
  let nested = 0;
  let close = at;
  for (; close < text.length; close++) {
    if (text[close] === '\\') close++;
    else if (text[close] === ']' && --nested === 0) break;
    else if (text[close] === '[' && ++nested > mostOpen) return 'open';
    else if (text[close] === '`') {
      const end = codeEnd(text, close, ended);
      if (end < 0) return 'open';
      close = end - 1;
    }
  }
  if (close + 1 >= text.length) return 'open';
  if (text[close + 1] !== '(') return 'none';
  destination.lastIndex = close + 1;
  const found = destination.exec(text);
  if (!found) return 'open';
  const [whole, bracketed, bare = '', title = ''] = found;
  const label = text.slice(at + 1, close);
  const url = bracketed ?? bare;
  const length = close + 1 + whole.length;
  if (label === url || `mailto:${label}` === url) return { length, shown: look.paint.link(label) };
  const shown = inline(label, look.paint, look.depth + 1);
  return { length, shown: url === '' ? shown : `${shown} (${look.paint.link(url)}${title})`.trimStart() };
}

/**
 * Emphasis by runs of `*` or `_`. Kept on purpose as they are, unlike in CommonMark: `2*3*4`, `__init__`, the
 * underscores of a bare address. And `**重点。**` closes, which by the rule about punctuation it would not.
 */
function emphasis(
  text: string,
  { before, ended }: Around,
  paint: Paint,
  depth: number,
): Piece | 'open' | 'none' {
  const char = text[0] ?? '';
  const run = runLength(text, 0);
  if (run > 3) return 'none';
  if (run === text.length) return 'open';
  if (!opens(char, before.at(-1), text[run]) || inAddress(before)) return 'none';
  // Lengths of the runs that are open, ours first.
  const open = [run];
  for (let at = run; at < text.length && open.length <= mostOpen; at++) {
    if (text[at] === '\\') at++;
    else if (text[at] === '`') {
      const end = codeEnd(text, at, ended);
      if (end < 0) return 'open';
      at = end - 1;
    } else if (text[at] === char) {
      const length = runLength(text, at);
      if (at + length === text.length && !ended) return 'open';
      const closing = close(open, char, { length, previous: text[at - 1], next: text[at + length] });
      if (closing) {
        const end = at + closing.used;
        const inner = text.slice(closing.level, end - closing.level);
        if (char === '_' && closing.level === 2 && /^\w+$/.test(inner)) return literal(text, end);
        const shown = inline(inner, paint, depth + 1);
        const styled = closing.level === 2 ? shown : paint.emphasis(shown);
        return { length: end, shown: closing.level > 1 ? paint.strong(styled) : styled };
      }
      at += length - 1;
    }
  }
  return 'open';
}

interface Run {
  readonly length: number;
  readonly previous: string | undefined;
  readonly next: string | undefined;
}

/**
 * Lets a run close what is open, or opens it. When that closes the first: how many of its characters, and which
 * level.
 */
function close(open: number[], char: string, run: Run): { used: number; level: number } | undefined {
  const canOpen = opens(char, run.previous, run.next);
  const canClose = opens(char, run.next, run.previous);
  const equal = canClose ? open.lastIndexOf(run.length) : -1;
  if (equal >= 0) {
    open.length = equal;
    return equal === 0 ? { used: run.length, level: run.length } : undefined;
  }
  if (canOpen) open.push(run.length);
  if (canOpen || !canClose) return undefined;
  let left = run.length;
  while (left > 0) {
    const level = open.pop() ?? 0;
    if (level > left) open.push(level - left);
    left -= Math.min(level, left);
    if (open.length === 0) return { used: run.length - left, level };
  }
  return undefined;
}

function opens(char: string, previous = ' ', next = ' '): boolean {
  if (/\s/.test(next)) return false;
  return char === '*' ? !(/\w/.test(previous) && /\w/.test(next)) : !/[\p{L}\p{N}]/u.test(previous);
}

function inAddress(before: string): boolean {
  const scheme = before.lastIndexOf('://');
  return scheme > 0 && !/[\s<>()]/.test(before.slice(scheme));
}
