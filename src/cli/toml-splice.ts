import { isDeepStrictEqual } from 'node:util';
import { parse, TomlError } from 'smol-toml';
import { Damaged, isRecord, plain, type Format } from './host-format.ts';
import { commaEdits, edited, lineEndOf, removeItems, stepsBetween } from './list-splice.ts';
import { scanToml, type Header, type Pair, type Value } from './toml-scan.ts';

type Statement = Header | Pair;

/** The TOML format, in which an entry can be a table, a table in braces, or keys with dots. */
export const toml: Format = {
  parse(text) {
    try {
      return plain(parse(text, { integersAsBigInt: 'asNeeded' }));
    } catch (error) {
      if (!(error instanceof TomlError)) throw error;
      throw new Damaged(`is no TOML (${error.message.split('\n')[0]})`, error.line);
    }
  },
  put(text, path, value) {
    const statements = scanToml(text);
    const pairs = statements.flatMap(withInner);
    const current = pairs.find((pair) => isDeepStrictEqual(pair.path, path));
    if (current) return replaced(text, current.value, value);
    const table = path.slice(0, -1);
    const line = `${keyOf(path.at(-1))} = ${spelled(value)}`;
    const holder = pairs.find((pair) => isDeepStrictEqual(pair.path, table));
    if (holder) return intoBraces(text, holder.value, line);
    if (!isRecord(value)) return withLine(text, statements, table, line);
    if (!statements.some(({ type, path: at }) => type === 'header' && isDeepStrictEqual(at, path)))
      return withTable(text, path, value);
    // An empty table is filled.
    let filled = text;
    for (const [key, item] of Object.entries(value)) filled = toml.put(filled, [...path, key], item);
    return filled;
  },
  take(text, path) {
    const statements = scanToml(text);
    const holder = statements.flatMap(withInner).find(({ value }) => innerAt(value, path) >= 0);
    if (holder) {
      const { pairs = [] } = holder.value;
      return toml.take(edited(text, removeItems(text, pairs, innerAt(holder.value, path))), path);
    }
    const isOurs = (statement?: Statement) =>
      statement !== undefined && isDeepStrictEqual(headOf(statement, path), path);
    // Adjacent statements are removed together, with the comments between them.
    const edits = statements.flatMap((first, at) => {
      if (!isOurs(first) || isOurs(statements[at - 1])) return [];
      const rest = statements.slice(at);
      const count = rest.findIndex((statement) => !isOurs(statement));
      const last = rest[(count < 0 ? rest.length : count) - 1] ?? first;
      return [linesOf(text, first, last)];
    });
    return edited(text, edits);
  },
};

function withInner(statement: Statement): Pair[] {
  if (statement.type === 'header') return [];
  return [statement, ...(statement.value.pairs ?? []).flatMap(withInner)];
}

const headOf = ({ path }: Statement, { length }: readonly string[]) => path.slice(0, length);
/** The index of the pair in braces that belongs to a path; -1 when there is none. */
const innerAt = ({ pairs = [] }: Value, path: readonly string[]): number =>
  pairs.findIndex((pair) => isDeepStrictEqual(headOf(pair, path), path));

const keyOf = (name = ''): string => (/^[\w-]+$/.test(name) ? name : JSON.stringify(name));

/** Formats a value as TOML. Strings and lists are written as in JSON. */
function spelled(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(spelled).join(',')}]`;
  if (!isRecord(value)) return JSON.stringify(value);
  const pairs = Object.entries(value).map(([key, item]) => `${keyOf(key)} = ${spelled(item)}`);
  return pairs.length > 0 ? `{ ${pairs.join(', ')} }` : '{}';
}

function replaced(text: string, { start, end, items = [] }: Value, value: unknown): string {
  if (items.length === 0 || !Array.isArray(value) || value.length === 0)
    return edited(text, [{ start, end, text: spelled(value) }]);
  const before = items.map((item) => toml.parse(`it = ${text.slice(item.start, item.end)}`));
  const steps = stepsBetween(
    before.map((item) => (item as { it: unknown }).it),
    value,
  );
  return edited(text, commaEdits(text, items, steps, spelled));
}

/** Inserts a pair first in braces, because after the last one there may be no comma. */
function intoBraces(text: string, { start, end, pairs = [] }: Value, line: string): string {
  if (pairs.length === 0) return edited(text, [{ start, end, text: `{ ${line} }` }]);
  return edited(text, [{ start: start + 1, end: start + 1, text: ` ${line},` }]);
}

/** Adds a table at the end of the file. */
function withTable(text: string, path: readonly string[], value: Readonly<Record<string, unknown>>): string {
  const eol = lineEndOf(text);
  const pairs = Object.entries(value).map(([key, item]) => `${keyOf(key)} = ${spelled(item)}`);
  const table = [`[${path.map(keyOf).join('.')}]`, ...pairs].join(eol);
  if (text === '') return table + eol;
  // A file whose last line has no end keeps it that way.
  return text.endsWith('\n') ? `${text}${eol}${table}${eol}` : `${text}${eol}${eol}${table}`;
}

/** Adds a key beside those of a table, spelled as they are, or below its header. */
function withLine(text: string, statements: readonly Statement[], table: readonly string[], line: string) {
  const isIn = ({ type, path }: Statement) =>
    isDeepStrictEqual(type === 'header' ? path : path.slice(0, -1), table);
  const beside = statements.findLast(isIn);
  if (!beside) return `${text}${lineEndOf(text)}[${table.map(keyOf).join('.')}]${lineEndOf(text)}${line}`;
  const key = beside.type === 'header' ? '' : text.slice(lineStart(text, beside.start), beside.last);
  const at = lineEnd(text, beside.end);
  return edited(text, [{ start: at, end: at, text: `${lineEndOf(text)}${key}${line}` }]);
}

const lineStart = (text: string, at: number): number => text.lastIndexOf('\n', at - 1) + 1;
/** The offset before the end of the line. */
const lineEnd = (text: string, at: number): number =>
  at + (/^[^\r\n]*/.exec(text.slice(at))?.[0].length ?? 0);

/** An edit that removes the lines of statements, and the empty line before a table. */
function linesOf(text: string, first: Statement, last: Statement) {
  const before = text.slice(0, lineStart(text, first.start));
  const after = text.slice(lineEnd(text, last.end));
  const isLastLine = !/^\r?\n/.test(after);
  const blank = first.type === 'header' ? (/(?<=\n|^)\r?\n$/.exec(before)?.[0].length ?? 0) : 0;
  const start = before.length - blank;
  const end = text.length - after.replace(/^\r?\n/, '').length;
  const extra = isLastLine ? (/\r?\n$/.exec(text.slice(0, start))?.[0].length ?? 0) : 0;
  return { start: start - extra, end, text: '' };
}
