import { matches } from '../../core/rule.ts';
import type { Client, StandardSchemaV1 } from '@modelcontextprotocol/client';
import type { ServerConfig } from '../config/mcp-config.ts';
import { isWanted } from '../approval/rules.ts';
import { isObject, listOf, objectOf, textOf, tooDeep, type JsonObject } from '../text/json.ts';
import { fingerprint, toolName, type ClientTool } from './tool.ts';

/** A server whose pages never end is broken. */
const mostPages = 64;
/** Other hosts cut descriptions at 2 KB. */
const mostDescription = 16 * 1024;
/** Characters; some 25,000 tokens of every request. */
const mostSchema = 100_000;
/** The most tools of a server of which the person has named none: all of them are in every request. */
const mostTools = 128;
const mostCharacters = 200_000;
/**
 * The names of tools as the specification wants them, and `/`; others could look like anything where they are
 * shown.
 */
const usualName = /^[\w./-]{1,128}$/;

/** Takes the page as it is: the SDK's own schema would refuse a whole server for one bad tool. */
const anyPage: StandardSchemaV1<unknown, JsonObject> = {
  '~standard': { version: 1, vendor: 'toolcrib', validate: (value) => ({ value: objectOf(value) }) },
};

/**
 * Asks a server for its tools; those that are wanted and usable, in its order. `left`: how many more there
 * are, which are too many for a request. `problems`: a line for each other.
 */
export async function listTools(client: Client, config: ServerConfig, timeout: { readonly timeout: number }) {
  if (client.getServerCapabilities()?.tools === undefined) return { tools: [], left: 0, problems: [] };
  const listed: JsonObject[] = [];
  let cursor: string | undefined;
  for (let pages = 0; pages < mostPages && (pages === 0 || cursor); pages++) {
    const params = cursor ? { cursor } : {};
    const page = await client.request({ method: 'tools/list', params }, anyPage, timeout);
    listed.push(...listOf(page['tools']).map(objectOf));
    cursor = textOf(page['nextCursor']);
  }
  const tools = new Map<string, Omit<ClientTool, 'call'>>();
  const problems: string[] = [];
  for (const said of listed) {
    const name = textOf(said['name']) ?? '';
    if (!usualName.test(name)) {
      // Its name could look like anything here.
      problems.push('a tool whose name is not up to 128 letters, digits, "_", "-", "." and "/"');
      continue;
    }
    if (!isWanted(config.tools, (pattern) => matches(pattern, name))) continue;
    const problem = tools.has(name) ? 'it was listed before' : problemOf(said, config);
    if (problem === undefined) tools.set(name, toolOf(said, name, config));
    else problems.push(`"${name}": ${problem}`);
  }
  const all = [...tools.values()];
  const isNamed = config.isOwn || config.tools?.some((pattern) => !pattern.startsWith('!')) === true;
  const kept = isNamed ? all : firstOf(all);
  return { tools: kept, left: all.length - kept.length, problems };
}

/** Takes as many tools as a request has room for. */
function firstOf(tools: readonly Omit<ClientTool, 'call'>[]): readonly Omit<ClientTool, 'call'>[] {
  let characters = 0;
  const end = tools.slice(0, mostTools).findIndex(({ name, description, inputSchema }) => {
    characters += name.length + description.length + JSON.stringify(inputSchema).length;
    return characters > mostCharacters;
  });
  return tools.slice(0, end < 0 ? mostTools : end);
}

/** The reason why a model cannot be offered a tool, or could not call it. */
function problemOf({ inputSchema = {}, execution }: JsonObject, { url }: ServerConfig): string | undefined {
  if (tooDeep(inputSchema) || JSON.stringify(inputSchema).length > mostSchema)
    return 'its input schema is too large';
  const { type = 'object' } = objectOf(inputSchema);
  if (!isObject(inputSchema) || ![type].flat().includes('object'))
    return 'its input schema describes no object';
  if (url !== undefined && hasBadHeader(inputSchema)) return 'its x-mcp-header cannot be sent';
  return objectOf(execution)['taskSupport'] === 'required' ? 'it can only be called as a task' : undefined;
}

/**
 * The name of a header as the specification wants it (Streamable HTTP, "Custom Headers from Tool
 * Parameters").
 */
const headerName = /^[\w!#$%&'*+.^`|~-]+$/;
const headerTypes = ['string', 'integer', 'boolean'];

/**
 * Tells whether a schema asks for a header that is none, stands for no plain value, or has another's name.
 */
function hasBadHeader(schema: JsonObject): boolean {
  let asked = 0;
  JSON.stringify(schema, (key, value: unknown) => {
    // A parameter may have that name, too.
    if (key === 'x-mcp-header' && !isObject(value)) asked++;
    return value;
  });
  return asked !== new Set(headersOf(schema)).size;
}

/** The names of headers that values of its properties, and of theirs, can be sent in. */
const headersOf = ({ properties }: JsonObject): string[] =>
  Object.values(objectOf(properties))
    .map(objectOf)
    .flatMap((property) => {
      const { 'x-mcp-header': header, type } = property;
      const isSent = headerTypes.includes(textOf(type) ?? '') && headerName.test(textOf(header) ?? '');
      return [...(isSent ? [String(header).toLowerCase()] : []), ...headersOf(property)];
    });

function toolOf(said: JsonObject, name: string, config: ServerConfig): Omit<ClientTool, 'call'> {
  const given = objectOf(said['annotations']);
  const hints = ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'];
  const annotations: ClientTool['annotations'] = Object.fromEntries(
    hints.flatMap((hint) => (typeof given[hint] === 'boolean' ? [[hint, given[hint]]] : [])),
  );
  const title = textOf(said['title']) ?? textOf(given['title']);
  const description = textOf(said['description']) ?? '';
  const inputSchema = acceptableSchema(objectOf(said['inputSchema']));
  return {
    name: toolName(config.name, name),
    server: config.name,
    tool: name,
    description: description.slice(0, mostDescription).toWellFormed(),
    inputSchema,
    annotations,
    trusted: config.trust,
    identity: identityOf(config),
    definition: fingerprint({ name, title, description, inputSchema, annotations }),
  };
}

/**
 * A tool's input schema in the form that every model takes: an object at its root, with `properties`, and no
 * alternatives there (Anthropic refuses the whole request for one). Their properties are put together, and
 * one that several describe may be anything: looser than what the server meant, and the server checks again.
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

/**
 * Identifies the server a rule is made for: how the server is reached, without what is secret (environment,
 * headers).
 */
const identityOf = ({ url, command, args, cwd }: ServerConfig): string =>
  fingerprint(url === undefined ? { command, args, cwd: cwd ?? null } : { url });
