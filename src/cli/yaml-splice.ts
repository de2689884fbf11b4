import { isMap, isScalar, isSeq, parseDocument, stringify, type Node, type Pair, type YAMLMap } from 'yaml';
import { Damaged, type Format } from './host-format.ts';
import { commaEdits, edited, lineEndOf, removeItems, stepsBetween } from './list-splice.ts';
import type { ListEdit, Range, SpliceStep } from './list-splice.ts';

/** The YAML format, for files of one document in block or flow style. */
export const yaml: Format = {
  parse: (text) => documentOf(text).toJS() as unknown,
  put(text, path, value) {
    const { contents } = documentOf(text);
    const current = isMap(contents) ? (contents.getIn(path, true) as Node | undefined) : undefined;
    if (current) return replaced(text, current, value);
    const last = isMap(contents) ? deepest(contents, path) : [];
    const rest = path.slice(last.length);
    const [key = '', ...inner] = rest;
    const nested = inner.reduceRight<unknown>((child, name) => ({ [name]: child }), value);
    const pair = last.at(-1);
    const map = pair ? pair.value : contents;
    if (isMap(map) && map.flow) return intoBraces(text, map, { [key]: nested });
    return pair ? below(text, pair, { [key]: nested }) : atEnd(text, { [key]: nested });
  },
  take(text, path) {
    const { contents } = documentOf(text);
    const pairs = isMap(contents) ? deepest(contents, path) : [];
    if (!isMap(contents) || pairs.length < path.length) return text;
    const maps = [contents, ...pairs.map(({ value }) => value)];
    for (let at = pairs.length - 1; ; at--) {
      const map = maps[at];
      const pair = pairs[at];
      const parent = pairs[at - 1];
      if (!isMap(map) || !pair) return text;
      const range = rangeOf(text, map, pair);
      const whole = parent && rangeOf(text, maps[at - 1] as YAMLMap, parent);
      const beside = whole ? text.slice(whole.start, range.start) + text.slice(range.end, whole.end) : '#';
      if (map.items.length === 1 && !beside.includes('#')) continue;
      if (!map.flow) return edited(text, [linesOf(text, range)]);
      const ranges = map.items.map((item) => rangeOf(text, map, item as Entry));
      return edited(text, removeItems(text, ranges, map.items.indexOf(pair)));
    }
  },
};

function documentOf(text: string) {
  const document = parseDocument(text);
  const [first] = document.errors;
  if (first) throw new Damaged(`is no YAML (${first.message.split('\n')[0]})`, first.linePos?.[0].line);
  return document;
}

type Entry = Pair<Node, Node | null>;

/** The pairs that lead along a path, as far as they exist. */
function deepest(map: YAMLMap, [key, ...rest]: readonly string[]): Entry[] {
  const pair = (map.items as Entry[]).find((item) => isScalar(item.key) && item.key.value === key);
  if (!pair) return [];
  return [pair, ...(isMap(pair.value) && rest.length > 0 ? deepest(pair.value, rest) : [])];
}

const startOf = (node: Node | null): number => node?.range?.[0] ?? 0;
const endOf = (node: Node | null): number => node?.range?.[1] ?? 0;
const lineStart = (text: string, at: number): number => text.lastIndexOf('\n', at - 1) + 1;

/**
 * The offset after the end of the line, where the end of a block already is; that of the text where the line
 * has no end.
 */
function nextLine(text: string, at: number): number {
  if (text[at - 1] === '\n') return at;
  const end = text.indexOf('\n', at);
  return end < 0 ? text.length : end + 1;
}

/** The range of a pair; in a block-style map its whole lines, which have to be its own. */
function rangeOf(text: string, { flow }: YAMLMap, { key, value }: Entry): Range {
  if (flow) return { start: startOf(key), end: Math.max(endOf(key), endOf(value)) };
  const start = lineStart(text, startOf(key));
  if (text.slice(start, startOf(key)).trim() !== '')
    throw new Damaged('has more than the entry in one line', text.slice(0, start).split('\n').length);
  return { start, end: nextLine(text, Math.max(endOf(key), endOf(value))) };
}

/**
 * An edit that removes lines. At the end of a file whose last line has no end, the end of the line before
 * goes too.
 */
function linesOf(text: string, { start, end }: Range): ListEdit {
  const isCut = end === text.length && !text.endsWith('\n');
  const extra = isCut ? (/\r?\n$/.exec(text.slice(0, start))?.[0].length ?? 0) : 0;
  return { start: start - extra, end, text: '' };
}

/** Formats a value as JSON, which is valid in both styles, with the end of the line where a block has it. */
const spelled = (text: string, end: number, value: unknown): string =>
  JSON.stringify(value) + (text[end - 1] === '\n' ? lineEndOf(text) : '');

function replaced(text: string, node: Node, value: unknown): string {
  const start = startOf(node);
  const end = endOf(node);
  if (isSeq(node) && node.items.length > 0 && Array.isArray(value) && value.length > 0) {
    const steps = stepsBetween(node.toJSON() as unknown[], value);
    const items = (node.items as Node[]).map((item) => ({ start: startOf(item), end: endOf(item) }));
    const isFlow = node.flow === true;
    const edits = isFlow ? commaEdits(text, items, steps, JSON.stringify) : dashEdits(text, items, steps);
    return edited(text, edits);
  }
  const replacement = spelled(text, end, value);
  return edited(text, [{ start, end, text: start === end ? ` ${replacement} ` : replacement }]);
}

/** Edits a list with a line for each item. */
function dashEdits(text: string, items: readonly Range[], steps: readonly SpliceStep[]): ListEdit[] {
  return steps.flatMap((step): ListEdit[] => {
    if (step.type === 'remove')
      return items.slice(step.at, step.at + step.count).map(({ start, end }) => {
        return linesOf(text, { start: lineStart(text, start), end: nextLine(text, end) });
      });
    const item = items[step.type === 'replace' ? step.at : step.after];
    if (item === undefined) throw new Damaged('has a list that cannot be added to');
    if (step.type === 'replace') return [{ ...item, text: spelled(text, item.end, step.value) }];
    const dash = text.slice(lineStart(text, item.start), item.start);
    const lines = step.values.map((added) => dash + JSON.stringify(added));
    return [linesAt(text, nextLine(text, item.end), lines)];
  });
}

/** An edit that puts lines before the line that begins at an offset. */
function linesAt(text: string, at: number, lines: readonly string[]): ListEdit {
  const eol = lineEndOf(text);
  const isCut = at === text.length && text !== '' && !text.endsWith('\n');
  return { start: at, end: at, text: isCut ? `${eol}${lines.join(eol)}` : lines.join(eol) + eol };
}

/** The number of blanks by which the file indents. */
const stepOf = (text: string): number => /^( +)[^\s#-]/m.exec(text)?.[1]?.length ?? 2;

function block(text: string, value: unknown, indent: string): string[] {
  const lines = stringify(value, { indent: stepOf(text), lineWidth: 0 })
    .trimEnd()
    .split('\n');
  return lines.map((line) => indent + line);
}

function intoBraces(text: string, map: YAMLMap, value: Readonly<Record<string, unknown>>): string {
  const at = startOf(map) + 1;
  const inner = JSON.stringify(value).slice(1, -1);
  return edited(text, [{ start: at, end: at, text: map.items.length > 0 ? ` ${inner},` : inner }]);
}

/** Adds an entry at the end of the map in a block, or right below a key without a value. */
function below(text: string, { key, value }: Entry, added: Readonly<Record<string, unknown>>): string {
  if (isMap(value)) {
    const first = value.items[0] as Entry;
    const last = value.items.at(-1) as Entry;
    const indent = text.slice(lineStart(text, startOf(first.key)), startOf(first.key));
    return edited(text, [linesAt(text, rangeOf(text, value, last).end, block(text, added, indent))]);
  }
  if (!isScalar(value) || value.value !== null) throw new Damaged(`has something else at ${String(key)}`);
  const own = text.slice(lineStart(text, startOf(key)), startOf(key));
  const lines = block(text, added, own + ' '.repeat(stepOf(text)));
  // A null may be written out: `extensions: ~`.
  const written = { start: startOf(value), end: endOf(value), text: '' };
  return edited(text, [linesAt(text, nextLine(text, endOf(key)), lines), written]);
}

function atEnd(text: string, added: Readonly<Record<string, unknown>>): string {
  const { contents } = documentOf(text);
  const first = isMap(contents) ? (contents.items[0] as Entry | undefined)?.key : undefined;
  const indent = first ? text.slice(lineStart(text, startOf(first)), startOf(first)) : '';
  return edited(text, [linesAt(text, text.length, block(text, added, indent))]);
}
