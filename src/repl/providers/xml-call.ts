import type { ToolCall } from '../message.ts';
import type { ToolDefinition } from './provider.ts';

type Schema = Readonly<Record<string, unknown>>;

/**
 * What stands between the tags of a call, as name and JSON arguments. What cannot be read keeps its raw text, tag included, as
 * arguments: never JSON.
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
    const { name, arguments: args, parameters } = objectIn(text) ?? {};
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
  const schema = tools.find((tool) => tool.name === name)?.inputSchema ?? {};
  const args = new Map<string, unknown>();
  for (const [key, value] of elements) {
    const made = coerced(withoutEnds(value), schemaOf(schema, key));
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

const schemaOf = (schema: Schema, key: string): Schema => {
  const properties = asObject(schema.properties);
  return asObject(properties && Object.hasOwn(properties, key) ? properties[key] : undefined) ?? {};
};

/** The value a schema wants, if the text can be one; else the text, for the check of the schema to refuse. */
function coerced(text: string, schema: Schema): unknown {
  const types = typesOf(schema);
  const trimmed = text.trim();
  const value = jsonIn(trimmed);
  if (types.includes('null') && trimmed === 'null') return null;
  if ((types.includes('number') || types.includes('integer')) && typeof value === 'number') return value;
  if (types.includes('boolean') && /^(true|false)$/i.test(trimmed)) return trimmed.toLowerCase() === 'true';
  if (types.includes('array') && Array.isArray(value)) return value;
  if (types.includes('object') && asObject(value)) return value;
  if (types.includes('string')) return text;
  if (types.includes('array')) return [coerced(text, asObject(schema.items) ?? {})];
  return types.length === 0 && typeof value === 'object' && value !== null ? value : text;
}

function typesOf(schema: Schema): unknown[] {
  const choices = [schema.anyOf, schema.oneOf].flatMap((list) =>
    Array.isArray(list) ? (list as unknown[]) : [],
  );
  return [schema.type, ...choices.map((choice) => asObject(choice)?.type)]
    .flat()
    .filter((type) => type !== undefined);
}

const asObject = (value: unknown): Record<string, unknown> | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined;

const objectIn = (text: string): Record<string, unknown> | undefined => asObject(jsonIn(text));

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // No JSON: the caller says what that means.
    return undefined;
  }
}
