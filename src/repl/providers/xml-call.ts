import type { ToolCall } from '../message.ts';
import { tooDeep } from '../text/nesting.ts';
import { listOf, objectOf, type JsonObject } from '../text/json.ts';
import type { ToolDefinition } from './provider.ts';

/**
 * What stands between the tags of a call, as name and JSON arguments. What cannot be read keeps its raw text, tag
 * included, as arguments: never JSON.
 */
export function callOf(open: string, body: string, tools: readonly ToolDefinition[]): Omit<ToolCall, 'id'> {
  const given = open.startsWith('<function=') ? open.slice(10, -1) : open.slice(1, -1);
  const read = open === '<tool_call>' ? fromToolCall(body, tools) : fromBody(given, body, tools);
  if (read) return read;
  const name = open === '<tool_call>' ? nameIn(body) : given;
  return { name, arguments: open + body };
}

/** The name in a call that cannot be read, so that the answer to it can tell which it was. */
const nameIn = (body: string): string =>
  /<name>\s*([\w.-]{1,128})|<function=([\w.-]{1,128})>|"name"\s*:\s*"([\w.-]{1,128})"/
    .exec(body.slice(0, 1000))
    ?.slice(1)
    .find(Boolean) ?? 'tool_call';

function fromToolCall(body: string, tools: readonly ToolDefinition[]): Omit<ToolCall, 'id'> | undefined {
  const text = body.trim();
  if (text.startsWith('{')) {
    const { name, arguments: args, parameters } = objectOf(jsonIn(text));
    if (typeof name !== 'string') return undefined;
    const given = args ?? parameters ?? {};
    return { name, arguments: typeof given === 'string' ? given : JSON.stringify(given) };
  }
  const named = /^<function=([\w.-]{1,128})>/.exec(text);
  if (named?.[1] !== undefined) {
    const inner = text.slice(named[0].length);
    return fromBody(named[1], inner.endsWith('</function>') ? inner.slice(0, -11) : inner, tools);
  }
  const parts = elementsIn(text);
  const name = parts?.find(([key]) => key === 'name')?.[1].trim();
  if (!parts || !name || parts.some(([key]) => key !== 'name' && key !== 'arguments')) return undefined;
  return fromBody(name, parts.find(([key]) => key === 'arguments')?.[1] ?? '', tools);
}

/** Arguments as JSON, or as one element each. */
function fromBody(
  name: string,
  body: string,
  tools: readonly ToolDefinition[],
): Omit<ToolCall, 'id'> | undefined {
  const text = body.trim();
  if (text.startsWith('{')) return { name, arguments: text };
  const elements = elementsIn(text);
  if (!elements) return undefined;
  const { properties } = tools.find((tool) => tool.name === name)?.inputSchema ?? {};
  const schemas = new Map(Object.entries(objectOf(properties)));
  const args = new Map<string, unknown>();
  for (const [key, value] of elements) {
    const made = coerced(withoutEnds(value), objectOf(schemas.get(key)));
    const before = args.get(key);
    // An array may come as one element for each of its items.
    if (Array.isArray(before) && Array.isArray(made)) for (const each of made as unknown[]) before.push(each);
    else args.set(key, made);
  }
  return { name, arguments: JSON.stringify(Object.fromEntries(args)) };
}

/** Elements side by side with nothing but blanks between them; undefined when it is anything else. One pass. */
function elementsIn(text: string): [string, string][] | undefined {
  const found: [string, string][] = [];
  const opening = /\s*<(?:parameter=([^<>\s]{1,128})|([\w.-]{1,128}))>/y;
  let at = 0;
  while (at < text.length) {
    opening.lastIndex = at;
    const tag = opening.exec(text);
    if (!tag) return text.slice(at).trim() === '' ? found : undefined;
    const close = tag[1] === undefined ? `</${tag[2]}>` : '</parameter>';
    const end = text.indexOf(close, opening.lastIndex);
    if (end < 0) return undefined;
    found.push([tag[1] ?? tag[2] ?? '', text.slice(opening.lastIndex, end)]);
    at = end + close.length;
  }
  return found;
}

/** Models put a value on lines of its own. */
const withoutEnds = (value: string): string => value.replace(/^\r?\n/, '').replace(/\r?\n$/, '');

/** The value a schema wants, if the text can be one; else the text, for the check of the schema to refuse. */
function coerced(text: string, schema: JsonObject): unknown {
  const types = typesOf(schema);
  const trimmed = text.trim();
  const value = jsonIn(/^(true|false)$/i.test(trimmed) ? trimmed.toLowerCase() : trimmed);
  const type = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
  if (type !== 'string' && (types.includes(type) || (type === 'number' && types.includes('integer'))))
    return value;
  if (types.includes('array') && !types.includes('string')) return [coerced(text, objectOf(schema['items']))];
  return types.length === 0 && (type === 'array' || type === 'object') ? value : text;
}

const typesOf = (schema: JsonObject): unknown[] =>
  [schema, ...listOf(schema['anyOf']), ...listOf(schema['oneOf'])]
    .flatMap((choice) => objectOf(choice)['type'])
    .filter((type) => type !== undefined);

/** Undefined for what is no JSON. */
function jsonIn(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return tooDeep(value) ? undefined : value;
  } catch {
    return undefined;
  }
}
