import type { Range } from './list-splice.ts';

/** A value and its range; a list has items, and a table in braces has pairs. */
export interface Value extends Range {
  readonly items?: readonly Value[];
  readonly pairs?: readonly Pair[];
}

/** A pair such as `a.b = 1`, from its key to the end of its value. */
export interface Pair extends Range {
  readonly type: 'pair';
  /** The keys from the top of the file. */
  readonly path: readonly string[];
  /** The start of the last part of its key. */
  readonly last: number;
  readonly value: Value;
}

/** A header such as `[a.b]` or `[[a.b]]`. */
export interface Header extends Range {
  readonly type: 'header';
  readonly path: readonly string[];
}

/**
 * The ranges of all pairs and headers in a text. It has to be TOML: other text throws a SyntaxError, or is
 * overlooked.
 */
export function scanToml(text: string): (Pair | Header)[] {
  const statements: (Pair | Header)[] = [];
  let table: readonly string[] = [];
  for (let at = skip(text, 0); at < text.length; at = skip(text, statements.at(-1)?.end ?? text.length)) {
    const brackets = match(/\[{0,2}/y, text, at);
    if (brackets === '') {
      statements.push(pairAt(text, at, table));
      continue;
    }
    const key = keyAt(text, at + brackets.length);
    table = key.path;
    const end = key.end + match(/\]{1,2}/y, text, key.end).length;
    statements.push({ type: 'header', path: table, start: at, end });
  }
  return statements;
}

/** Matches a sticky pattern at an offset. Throws a SyntaxError when it does not match. */
function match(pattern: RegExp, text: string, at: number): string {
  pattern.lastIndex = at;
  const matched = pattern.exec(text)?.[0];
  if (matched === undefined) throw new SyntaxError(`${pattern.source} was expected at ${at}`);
  return matched;
}

/** The offset after blanks, line ends and comments. */
const skip = (text: string, at: number): number => at + match(/(?:\s|#[^\n]*)*/y, text, at).length;

function keyAt(text: string, from: number): { path: string[]; last: number; end: number } {
  const path: string[] = [];
  let at = from;
  for (;;) {
    at += match(/[ \t]*/y, text, at).length;
    const last = at;
    const part = match(/"(?:\\.|[^"\\])*"|'[^']*'|[^\s.=[\]{},"'#]+/y, text, at);
    path.push(part.startsWith('"') ? (JSON.parse(part) as string) : part.replaceAll("'", ''));
    at += part.length;
    const dot = match(/[ \t]*\.?/y, text, at);
    at += dot.length;
    if (!dot.endsWith('.')) return { path, last, end: at };
  }
}

function pairAt(text: string, start: number, table: readonly string[]): Pair {
  const key = keyAt(text, start);
  const path = [...table, ...key.path];
  const value = valueAt(text, key.end + match(/=[ \t]*/y, text, key.end).length, path);
  return { type: 'pair', path, start, last: key.last, end: value.end, value };
}

const strings = /"""(?:\\[^]|[^\\])*?"""(?:"{0,2})|'''[^]*?'''(?:'{0,2})|"(?:\\.|[^"\\])*"|'[^']*'/;
// A date and a time may have a blank between them.
const others = /\d{4}-\d\d-\d\d[Tt ]\d\d:[^,\]}\s#]+|[^,\]}\s#]+/;
const simple = new RegExp(`${strings.source}|${others.source}`, 'y');

function valueAt(text: string, start: number, path: readonly string[]): Value {
  if (text[start] === '[') {
    const { inner, end } = listAt(text, start, ']', (at) => valueAt(text, at, path));
    return { start, end, items: inner };
  }
  if (text[start] === '{') {
    const { inner, end } = listAt(text, start, '}', (at) => pairAt(text, at, path));
    return { start, end, pairs: inner };
  }
  return { start, end: start + match(simple, text, start).length };
}

/** Reads what stands between brackets, separated by commas. */
function listAt<T extends Range>(text: string, start: number, close: string, read: (at: number) => T) {
  const inner: T[] = [];
  let at = skip(text, start + 1);
  while (text[at] !== close) {
    const item = read(at);
    inner.push(item);
    at = skip(text, item.end);
    if (text[at] === ',') at = skip(text, at + 1);
  }
  return { inner, end: at + 1 };
}
