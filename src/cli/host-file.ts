import { isDeepStrictEqual } from 'node:util';
import {
  findNodeAtLocation,
  getNodeValue,
  parseTree,
  printParseErrorCode,
  type Node,
  type ParseError,
} from 'jsonc-parser';
import { isMap, parseDocument } from 'yaml';
import { UsageError } from './usage.ts';

/** A value at a place of a configuration; undefined takes away what is there. */
export interface Setting {
  readonly under: readonly string[];
  readonly value: unknown;
}

/** A text with some settings made, and all the rest, comments too, as it was. Throws UsageError where it is damaged. */
export function withSettings(file: string, text: string, settings: readonly Setting[]): string {
  if (file.endsWith('.toml')) return settings.reduce((so, one) => inToml(file, so, one), text);
  if (/\.ya?ml$/.test(file)) return inYaml(file, text, settings);
  return settings.reduce((so, one) => inJson(file, so, one), text);
}

function inJson(file: string, text: string, { under, value }: Setting): string {
  const whole = text.trim() === '' ? '{}\n' : text;
  const errors: ParseError[] = [];
  const root = parseTree(whole, errors, { allowTrailingComma: true });
  const [first] = errors;
  if (!root || first || root.type !== 'object') {
    const line = whole.slice(0, first?.offset ?? 0).split('\n').length;
    const why = first ? printParseErrorCode(first.error) : 'expected an object';
    throw new UsageError(`${file}:${line}: is no JSON (${why}). Mend it first; nothing was written.`);
  }
  const there = findNodeAtLocation(root, [...under]);
  if (value === undefined) return there?.parent ? without(whole, outermost(whole, there.parent)) : whole;
  if (there && isDeepStrictEqual(getNodeValue(there), value)) return whole;
  const unit = /^([ \t]+)\S/m.exec(whole)?.[1] ?? '  ';
  const indented = (one: unknown, depth: number) =>
    JSON.stringify(one, null, unit).replaceAll('\n', `\n${unit.repeat(depth)}`);
  if (there) return spliced(whole, there.offset, there.length, indented(value, under.length));
  // The keys that are not there yet are made with it.
  const known = under.findLastIndex((_, at) => findNodeAtLocation(root, under.slice(0, at + 1))) + 1;
  const parent = findNodeAtLocation(root, under.slice(0, known)) ?? root;
  if (parent.type !== 'object')
    throw new UsageError(
      `${file}: ${under.slice(0, known).join('.')} is no object. Mend it first; nothing was written.`,
    );
  const [key = '', ...rest] = under.slice(known);
  const nested = rest.reduceRight<unknown>((one, name) => ({ [name]: one }), value);
  const property = `\n${unit.repeat(known + 1)}${JSON.stringify(key)}: ${indented(nested, known + 1)}`;
  // In front of the others: behind the last one there may be a comma, and comments that belong to it.
  const close = parent.children?.length ? ',' : `\n${unit.repeat(known)}`;
  return spliced(whole, parent.offset + 1, 0, property + close);
}

/** The property that holds nothing but this one, comments neither. */
function outermost(text: string, property: Node): Node {
  const { offset, length, parent } = property;
  if (!parent?.parent || parent.children?.length !== 1) return property;
  const beside =
    text.slice(parent.offset, offset) + text.slice(offset + length, parent.offset + parent.length);
  return beside.includes('/') ? property : outermost(text, parent.parent);
}

const spliced = (text: string, at: number, length: number, more: string): string =>
  text.slice(0, at) + more + text.slice(at + length);

/** Takes out a property with its line, and the comma that is one too many then. */
function without(text: string, { offset, length, parent }: Node): string {
  const end = offset + length;
  const before = /(?<=\n)[ \t]*$/.exec(text.slice(0, offset))?.[0].length ?? 0;
  const [after = '', comma] = /^(\s*,)?(?:[ \t]*\r?\n)?/.exec(text.slice(end)) ?? [];
  const left = spliced(text, offset - before, before + length + after.length, '');
  const siblings = parent?.children ?? [];
  const previous = siblings[siblings.findIndex((one) => one.offset === offset) - 1];
  if (comma !== undefined || !previous) return left;
  const from = previous.offset + previous.length;
  return spliced(left, from, /^\s*,/.exec(left.slice(from))?.[0].length ?? 0, '');
}

function inYaml(file: string, text: string, settings: readonly Setting[]): string {
  const document = parseDocument(text);
  const [first] = document.errors;
  if (first)
    throw new UsageError(`${file}: ${first.message.split('\n')[0]} Mend it first; nothing was written.`);
  for (const { under, value } of settings)
    if (value === undefined) {
      document.deleteIn(under);
      const above = document.getIn(under.slice(0, -1));
      if (isMap(above) && above.items.length === 0) document.deleteIn(under.slice(0, -1));
    } else document.setIn(under, document.createNode(value));
  return document.toString({ lineWidth: 0 });
}

/** One table at the end of the file in place of the one of that name. TOML reads strings and lists as JSON has them. */
function inToml(file: string, text: string, { under, value }: Setting): string {
  const name = under.join('.');
  const lines = text.split('\n');
  const table = /^\s*\[\[?\s*([^\]]+?)\s*\]/;
  if (new RegExp(String.raw`^\s*"?${under.at(-1)}"?\s*=`, 'm').test(text))
    throw new UsageError(`${file}: has ${name} in one line. Take that out first; nothing was written.`);
  let isOurs = false;
  const others = lines.filter((line) => {
    const found = table.exec(line)?.[1]?.replaceAll(/["\s]/g, '');
    if (found !== undefined) isOurs = found === name || found.startsWith(`${name}.`);
    return !isOurs;
  });
  const kept = others.join('\n').replace(/\s*$/, '');
  const made = Object.entries((value ?? {}) as object).map(([key, one]) => `${key} = ${JSON.stringify(one)}`);
  const added = value === undefined ? [] : [`[${name}]`, ...made];
  return [kept, added.join('\n')].filter(Boolean).join('\n\n') + '\n';
}
