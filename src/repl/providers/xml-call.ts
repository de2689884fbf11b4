import type { ToolCall } from '../message.ts';
import { listOf, objectOf, tooDeep, type JsonObject } from '../text/json.ts';
import type { ToolDefinition } from './provider.ts';

type Call = Omit<ToolCall, 'id'>;
type Tools = readonly ToolDefinition[];

/** What stands between the tags of a call, as name and JSON arguments; what cannot be read keeps its raw text. */
export function callOf(open: string, body: string, tools: Tools): Call {
  const given = open.startsWith('<function=') ? open.slice(10, -1) : open.slice(1, -1);
  const isPlain = open === '<tool_call>';
  const read = isPlain ? fromToolCall(body.trim(), tools) : fromBody(given, body, tools);
  return read ?? { name: isPlain ? nameIn(body) : given, arguments: open + body };
}

/** The name in a call that cannot be read, so that the answer to it can tell which it was. */
const nameIn = (body: string): string =>
  /<name>\s*([\w.-]{1,128})|<function=([\w.-]{1,128})>|"name"\s*:\s*"([\w.-]{1,128})"/
    .exec(body.slice(0, 1000))
    ?.slice(1)
    .find(Boolean) ?? 'tool_call';

function fromToolCall(text: string, tools: Tools): Call | undefined {
  if (text.startsWith('{')) {
    const { name, arguments: args, parameters } = objectOf(jsonIn(text));
    if (typeof name !== 'string') return undefined;
    const given = args ?? parameters ?? {};
    return { name, arguments: typeof given === 'string' ? given : JSON.stringify(given) };
  }
  const named = /^<function=([\w.-]{1,128})>/.exec(text);
  if (named?.[1] !== undefined)
    return fromBody(named[1], text.slice(named[0].length).replace(/<\/function>$/, ''), tools);
  const parts = elementsIn(text);
  const name = parts?.find(([key]) => key === 'name')?.[1].trim();
  if (!parts || !name || parts.some(([key]) => key !== 'name' && key !== 'arguments')) return undefined;
  return fromBody(name, parts.find(([key]) => key === 'arguments')?.[1] ?? '', tools);
}

/** Arguments as JSON, or as one element each. */
function fromBody(name: string, body: string, tools: Tools): Call | undefined {
  const text = body.trim();
  if (text.startsWith('{')) return { name, arguments: text };
  const elements = elementsIn(text);
  if (!elements) return undefined;
  const { properties } = tools.find((tool) => tool.name === name)?.inputSchema ?? {};
  const schemas = new Map(Object.entries(objectOf(properties)));
  const args = new Map<string, unknown>();
  for (const [key, value] of elements) {
    // Models put a value on lines of its own.
    const made = coerced(value.replace(/^\r?\n/, '').replace(/\r?\n$/, ''), objectOf(schemas.get(key)));
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

/** The value a schema wants, if the text can be one; else the text, for the check of the schema to refuse. */
function coerced(text: string, schema: JsonObject): unknown {
  const types = [schema, ...listOf(schema['anyOf']), ...listOf(schema['oneOf'])]
    .flatMap((choice) => objectOf(choice)['type'])
    .filter((type) => type !== undefined);
  const trimmed = text.trim();
  const value = jsonIn(/^(true|false)$/i.test(trimmed) ? trimmed.toLowerCase() : trimmed);
  const type = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
  if (type !== 'string' && (types.includes(type) || (type === 'number' && types.includes('integer'))))
    return value;
  if (types.includes('array') && !types.includes('string')) return [coerced(text, objectOf(schema['items']))];
  return types.length === 0 && (type === 'array' || type === 'object') ? value : text;
}

/** Undefined for what is no JSON. */
function jsonIn(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return tooDeep(value) ? undefined : value;
  } catch {
    return undefined;
  }
}
