import type { Client, StandardSchemaV1 } from '@modelcontextprotocol/client';
import type { ServerConfig } from '../config/server-config.ts';
import { isObject, listOf, objectOf, textOf, tooDeep, type JsonObject } from '../text/json.ts';
import { fingerprint } from './fingerprints.ts';
import { isWanted, toolName } from './names.ts';
import type { Annotations, Tool } from './tool.ts';

/** A server whose pages never end is broken. */
const mostPages = 64;
/** Other hosts cut descriptions at 2 KB. */
const mostDescription = 16 * 1024;
/** Characters; some 25,000 tokens of every request. */
const mostSchema = 100_000;
/** As the specification wants them, and `/`; others could look like anything where they are shown. */
const usualName = /^[\w./-]{1,128}$/;

interface Listed {
  readonly tools: readonly Omit<Tool, 'call'>[];
  /** One line for each tool that had to be left out. */
  readonly problems: readonly string[];
}

/** Takes the page as it is: the SDK's own schema would refuse a whole server for one bad tool. */
const anyPage: StandardSchemaV1<unknown, JsonObject> = {
  '~standard': { version: 1, vendor: 'toolcrib', validate: (value) => ({ value: objectOf(value) }) },
};

/** Asks a server for its tools; those that are wanted and usable, in its order. */
export async function listTools(
  client: Client,
  config: ServerConfig,
  { identity, timeout }: { readonly identity: string; readonly timeout: number },
): Promise<Listed> {
  if (client.getServerCapabilities()?.tools === undefined) return { tools: [], problems: [] };
  const listed: JsonObject[] = [];
  let cursor: string | undefined;
  for (let pages = 0; pages < mostPages && (pages === 0 || cursor); pages++) {
    const params = cursor ? { cursor } : {};
    const page = await client.request({ method: 'tools/list', params }, anyPage, { timeout });
    listed.push(...listOf(page['tools']).map(objectOf));
    cursor = textOf(page['nextCursor']);
  }
  const named = listed.filter((said) => usualName.test(textOf(said['name']) ?? ''));
  const tools = new Map<string, Omit<Tool, 'call'>>();
  const problems: string[] = [];
  for (const said of named) {
    const name = String(said['name']);
    if (!isWanted(name, config.tools)) continue;
    const problem = tools.has(name) ? 'it was listed before' : problemOf(said);
    if (problem === undefined) tools.set(name, toolOf(said, name, config, identity));
    else problems.push(`"${name}": ${problem}`);
  }
  const unnamed = listed.length - named.length;
  if (unnamed > 0)
    problems.push(`${unnamed} tools whose names are not up to 128 letters, digits, "_", "-", "." and "/"`);
  return { tools: [...tools.values()], problems };
}

/** Why a model could not be told of a tool, or could not call it. */
function problemOf({ inputSchema = {}, execution }: JsonObject): string | undefined {
  if (tooDeep(inputSchema) || JSON.stringify(inputSchema).length > mostSchema)
    return 'its input schema is too large';
  if (!isObject(inputSchema) || !mayBeObject(inputSchema)) return 'its input schema describes no object';
  return objectOf(execution)['taskSupport'] === 'required' ? 'it can only be called as a task' : undefined;
}

function toolOf(said: JsonObject, name: string, config: ServerConfig, identity: string): Omit<Tool, 'call'> {
  const annotations = objectOf(said['annotations']);
  const hints = ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'];
  const described = {
    name,
    title: textOf(said['title']) ?? textOf(annotations['title']),
    description: textOf(said['description']) ?? '',
    inputSchema: acceptableSchema(objectOf(said['inputSchema'])),
    annotations: Object.fromEntries(
      hints.flatMap((hint) => (typeof annotations[hint] === 'boolean' ? [[hint, annotations[hint]]] : [])),
    ) as Annotations,
  };
  const { description, inputSchema } = described;
  return {
    name: toolName(config.name, name),
    server: config.name,
    tool: name,
    description: description.slice(0, mostDescription).toWellFormed(),
    inputSchema,
    annotations: described.annotations,
    trusted: config.trust,
    identity,
    definition: fingerprint(described),
  };
}

const mayBeObject = ({ type = 'object' }: JsonObject): boolean => [type].flat().includes('object');

/**
 * A tool's input schema in the form that every model takes: an object at its root, with `properties`, and no
 * alternatives there (Anthropic refuses the whole request for one). Their properties are put together, and one that
 * several describe may be anything: looser than what the server meant, and the server checks again.
 */
function acceptableSchema({ allOf, anyOf, oneOf, additionalProperties, ...own }: JsonObject): JsonObject {
  const others = [allOf, anyOf, oneOf].flatMap(listOf).map(objectOf);
  const properties: Record<string, unknown> = {};
  for (const part of [own, ...others])
    for (const [name, property] of Object.entries(objectOf(part['properties'])))
      properties[name] = Object.hasOwn(properties, name) ? {} : property;
  const closed = others.length === 0 && additionalProperties !== undefined ? { additionalProperties } : {};
  return { ...own, ...closed, type: 'object', properties };
}
