import {
  findNodeAtLocation,
  getNodeValue,
  parseTree,
  printParseErrorCode,
  type Node,
  type ParseError,
} from 'jsonc-parser';
import { Damaged, plain, type Format } from './host-format.ts';
import { commaEdits, edited, lineEndOf, removeItems, stepsBetween, type Range } from './list-splice.ts';

/** The JSON that hosts read, with comments and trailing commas. */
export const json: Format = {
  parse: (text) => plain(getNodeValue(rootOf(text))),
  put(text, path, value) {
    const whole = text.trim() === '' ? '{}\n' : text;
    const root = rootOf(whole);
    const current = findNodeAtLocation(root, [...path]);
    if (current) return replaced(whole, current, value, path.length);
    // Missing keys on the path are made together with the value.
    const depth = path.findLastIndex((_, at) => findNodeAtLocation(root, path.slice(0, at + 1))) + 1;
    const parent = findNodeAtLocation(root, path.slice(0, depth)) ?? root;
    const [key = '', ...rest] = path.slice(depth);
    const nested = rest.reduceRight<unknown>((inner, name) => ({ [name]: inner }), value);
    // A null cannot hold the value, and is replaced.
    if (parent.type !== 'object') return replaced(whole, parent, { [key]: nested }, depth);
    return inserted(whole, parent, `${JSON.stringify(key)}: ${spelled(whole, nested, depth + 1)}`, depth);
  },
  take(text, path) {
    const property = findNodeAtLocation(rootOf(text), [...path])?.parent;
    return property ? without(text, outermost(text, property)) : text;
  },
};

function rootOf(text: string): Node {
  const whole = text.trim() === '' ? '{}' : text;
  const errors: ParseError[] = [];
  const root = parseTree(whole, errors, { allowTrailingComma: true });
  const [first] = errors;
  if (root?.type === 'object' && !first) return root;
  const line = whole.slice(0, first?.offset ?? 0).split('\n').length;
  throw new Damaged(`is no JSON (${first ? printParseErrorCode(first.error) : 'expected an object'})`, line);
}

const rangeOf = ({ offset, length }: Node): Range => ({ start: offset, end: offset + length });

const unitOf = (text: string): string => /^([ \t]+)\S/m.exec(text)?.[1] ?? '  ';

function spelled(text: string, value: unknown, depth: number): string {
  const unit = unitOf(text);
  return JSON.stringify(value, null, unit).replaceAll('\n', `${lineEndOf(text)}${unit.repeat(depth)}`);
}

function replaced(text: string, node: Node, value: unknown, depth: number): string {
  const items = node.type === 'array' ? (node.children ?? []) : [];
  if (items.length > 0 && Array.isArray(value) && value.length > 0) {
    const steps = stepsBetween(plain(getNodeValue(node)) as unknown[], value);
    return edited(text, commaEdits(text, items.map(rangeOf), steps, JSON.stringify));
  }
  return edited(text, [{ ...rangeOf(node), text: spelled(text, value, depth) }]);
}

/** Inserts a property before the others, because a comma and comments may follow the last one. */
function inserted(text: string, parent: Node, property: string, depth: number): string {
  const eol = lineEndOf(text);
  const unit = unitOf(text);
  const close = parent.children?.length ? ',' : `${eol}${unit.repeat(depth)}`;
  const at = parent.offset + 1;
  return edited(text, [{ start: at, end: at, text: `${eol}${unit.repeat(depth + 1)}${property}${close}` }]);
}

/** The outermost property that contains nothing but this one, and no comments. */
function outermost(text: string, property: Node): Node {
  const { parent } = property;
  const isAlone = parent?.parent && parent.children?.length === 1;
  return isAlone && restOf(text, parent, property).trim() === '' ? outermost(text, parent.parent) : property;
}

/** The text between the braces without one property and the comma after it. */
const restOf = (text: string, { offset, length }: Node, property: Node): string =>
  text.slice(offset + 1, property.offset) +
  text.slice(rangeOf(property).end, offset + length - 1).replace(/^\s*,/, '');

function without(text: string, property: Node): string {
  const { parent } = property;
  const siblings = parent?.children ?? [];
  if (parent && siblings.length === 1 && restOf(text, parent, property).trim() === '')
    return edited(text, [{ ...rangeOf(parent), text: '{}' }]);
  return edited(text, removeItems(text, siblings.map(rangeOf), siblings.indexOf(property)));
}
