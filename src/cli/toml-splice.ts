import { isDeepStrictEqual } from 'node:util';
import { parse, TomlError } from 'smol-toml';
import { Damaged, isRecord, plain, type Format } from './host-format.ts';
import { commaEdits, edited, lineEndOf, removeItems, stepsBetween } from './list-splice.ts';
import { scanToml, type Header, type Pair, type Value } from './toml-scan.ts';

type Statement = Header | Pair;

/** TOML: a table, one in braces, or keys with dots, whichever of them holds an entry. */
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
    const there = pairs.find((pair) => isDeepStrictEqual(pair.path, path));
    if (there) return replaced(text, there.value, value);
    const above = path.slice(0, -1);
    const line = `${keyOf(path.at(-1))} = ${spelled(value)}`;
    const holder = pairs.find((pair) => isDeepStrictEqual(pair.path, above));
    if (holder) return intoBraces(text, holder.value, line);
    if (isRecord(value))
      // An empty table is filled.
      return statements.some((one) => one.type === 'header' && isDeepStrictEqual(one.path, path))
        ? Object.entries(value).reduce((so, [key, one]) => toml.put(so, [...path, key], one), text)
        : withTable(text, path, value);
    return withLine(text, statements, above, line);
  },
  take(text, path) {
    const statements = scanToml(text);
    const holder = statements.flatMap(withInner).find(({ value }) => innerAt(value, path) >= 0);
    if (holder) {
      const { pairs = [] } = holder.value;
      return toml.take(edited(text, removeItems(text, pairs, innerAt(holder.value, path))), path);
    }
    const isOurs = (one?: Statement) => one !== undefined && isDeepStrictEqual(headOf(one, path), path);
    // What stands together goes together, with the comments between.
    return edited(
      text,
      statements.flatMap((one, at) => {
        if (!isOurs(one) || isOurs(statements[at - 1])) return [];
        const rest = statements.slice(at);
        const count = rest.findIndex((each) => !isOurs(each));
        const last = rest[(count < 0 ? rest.length : count) - 1] ?? one;
        return [linesOf(text, one, last)];
      }),
    );
  },
};

function withInner(one: Statement): Pair[] {
  return one.type === 'header' ? [] : [one, ...(one.value.pairs ?? []).flatMap(withInner)];
}

const headOf = ({ path }: Statement, { length }: readonly string[]) => path.slice(0, length);
/** The place of what belongs to a path, in braces. */
const innerAt = ({ pairs = [] }: Value, path: readonly string[]): number =>
  pairs.findIndex((pair) => isDeepStrictEqual(headOf(pair, path), path));

const keyOf = (name = ''): string => (/^[\w-]+$/.test(name) ? name : JSON.stringify(name));

/** Strings and lists are written as in JSON. */
function spelled(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(spelled).join(',')}]`;
  if (!isRecord(value)) return JSON.stringify(value);
  const pairs = Object.entries(value).map(([key, one]) => `${keyOf(key)} = ${spelled(one)}`);
  return pairs.length > 0 ? `{ ${pairs.join(', ')} }` : '{}';
}

function replaced(text: string, { start, end, items = [] }: Value, value: unknown): string {
  if (items.length === 0 || !Array.isArray(value) || value.length === 0)
    return edited(text, [{ start, end, text: spelled(value) }]);
  const before = items.map((item) => toml.parse(`it = ${text.slice(item.start, item.end)}`));
  const steps = stepsBetween(
    before.map((one) => (one as { it: unknown }).it),
    value,
  );
  return edited(text, commaEdits(text, items, steps, spelled));
}

/** In front, as behind the last one there may be no comma. */
function intoBraces(text: string, { start, end, pairs = [] }: Value, line: string): string {
  if (pairs.length === 0) return edited(text, [{ start, end, text: `{ ${line} }` }]);
  return edited(text, [{ start: start + 1, end: start + 1, text: ` ${line},` }]);
}

/** A table at the end of the file. */
function withTable(text: string, path: readonly string[], value: Readonly<Record<string, unknown>>): string {
  const eol = lineEndOf(text);
  const pairs = Object.entries(value).map(([key, one]) => `${keyOf(key)} = ${spelled(one)}`);
  const table = [`[${path.map(keyOf).join('.')}]`, ...pairs].join(eol);
  if (text === '') return table + eol;
  // A file without an end of its last line stays one.
  return text.endsWith('\n') ? `${text}${eol}${table}${eol}` : `${text}${eol}${eol}${table}`;
}

/** Another key beside those of a table, spelled as they are, or below its header. */
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
/** In front of the end of the line. */
const lineEnd = (text: string, at: number): number =>
  at + (/^[^\r\n]*/.exec(text.slice(at))?.[0].length ?? 0);

/** The lines of statements, and the empty one that stands before a table. */
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
