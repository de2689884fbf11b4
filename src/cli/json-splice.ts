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

/** JSON with comments and trailing commas, as hosts read it. */
export const json: Format = {
  parse: (text) => plain(getNodeValue(rootOf(text))),
  put(text, path, value) {
    const whole = text.trim() === '' ? '{}\n' : text;
    const root = rootOf(whole);
    const there = findNodeAtLocation(root, [...path]);
    if (there) return replaced(whole, there, value, path.length);
    // The keys that are not there yet are made with it.
    const known = path.findLastIndex((_, at) => findNodeAtLocation(root, path.slice(0, at + 1))) + 1;
    const parent = findNodeAtLocation(root, path.slice(0, known)) ?? root;
    const [key = '', ...rest] = path.slice(known);
    const nested = rest.reduceRight<unknown>((one, name) => ({ [name]: one }), value);
    // A null is no place for it.
    if (parent.type !== 'object') return replaced(whole, parent, { [key]: nested }, known);
    return inserted(whole, parent, `${JSON.stringify(key)}: ${spelled(whole, nested, known + 1)}`, known);
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

function replaced(text: string, there: Node, value: unknown, depth: number): string {
  const items = there.type === 'array' ? (there.children ?? []) : [];
  if (items.length > 0 && Array.isArray(value) && value.length > 0) {
    const steps = stepsBetween(plain(getNodeValue(there)) as unknown[], value);
    return edited(text, commaEdits(text, items.map(rangeOf), steps, JSON.stringify));
  }
  return edited(text, [{ ...rangeOf(there), text: spelled(text, value, depth) }]);
}

/** In front of the others: behind the last one there may be a comma, and comments that belong to it. */
function inserted(text: string, parent: Node, property: string, depth: number): string {
  const [eol, unit] = [lineEndOf(text), unitOf(text)];
  const close = parent.children?.length ? ',' : `${eol}${unit.repeat(depth)}`;
  const at = parent.offset + 1;
  return edited(text, [{ start: at, end: at, text: `${eol}${unit.repeat(depth + 1)}${property}${close}` }]);
}

/** The property that holds nothing but this one, comments neither. */
function outermost(text: string, property: Node): Node {
  const { parent } = property;
  const isAlone = parent?.parent && parent.children?.length === 1;
  return isAlone && restOf(text, parent, property).trim() === '' ? outermost(text, parent.parent) : property;
}

/** All between the braces but one property, and the comma behind it. */
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
