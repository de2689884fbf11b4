import type { Client, StandardSchemaV1 } from '@modelcontextprotocol/client';
import type { ServerConfig } from '../config/server-config.ts';
import { tooDeep } from '../text/json.ts';
import { definitionOf } from './fingerprints.ts';
import { listOf, objectOf, textOf, type JsonObject } from '../text/json.ts';
import { isWanted, toolName } from './names.ts';
import { acceptableSchema } from './schema.ts';
import type { Annotations, Tool } from './tool.ts';

/** As the SDK's own listing: a server whose pages never end is broken. */
const mostPages = 64;
/** Other hosts cut descriptions at 2 KB; this is for servers that mean harm. */
const mostDescription = 16 * 1024;
/** Characters; some 25,000 tokens of every request. */
const mostSchema = 100_000;

/** As the specification wants them, and `/`; others could look like anything where they are shown. */
const usualName = /^[\w./-]{1,128}$/;

export interface Listed {
  readonly tools: readonly Omit<Tool, 'call'>[];
  /** One line for each tool that had to be left out. */
  readonly problems: readonly string[];
}

interface Page {
  readonly tools: readonly unknown[];
  readonly next: string;
}

/** Takes the page as it is: the SDK's own schema would refuse a whole server for one bad tool. */
const anyPage: StandardSchemaV1<unknown, Page> = {
  '~standard': {
    version: 1,
    vendor: 'toolcrib',
    validate: (value) => {
      const { tools, nextCursor } = objectOf(value);
      return { value: { tools: listOf(tools), next: textOf(nextCursor) ?? '' } };
    },
  },
};

/** Asks a server for its tools; those that are wanted and usable, in its order. */
export async function listTools(
  client: Client,
  config: ServerConfig,
  { identity, timeout }: { readonly identity: string; readonly timeout: number },
): Promise<Listed> {
  if (client.getServerCapabilities()?.tools === undefined) return { tools: [], problems: [] };
  const listed: JsonObject[] = [];
  let cursor = '';
  for (let pages = 0; pages < mostPages && (pages === 0 || cursor !== ''); pages++) {
    const params = cursor === '' ? {} : { cursor };
    const page = await client.request({ method: 'tools/list', params }, anyPage, { timeout });
    listed.push(...page.tools.map(objectOf));
    cursor = page.next;
  }
  const named = listed.filter((said) => usualName.test(textOf(said['name']) ?? ''));
  const tools = new Map<string, Omit<Tool, 'call'>>();
  const problems: string[] = [];
  for (const said of named) {
    const name = String(said['name']);
    if (!isWanted(name, config.tools)) continue;
    const made = tools.has(name) ? 'it was listed before' : toolOf(said, name, { config, identity });
    if (typeof made === 'string') problems.push(`"${name}": ${made}`);
    else tools.set(name, made);
  }
  const unnamed = listed.length - named.length;
  if (unnamed > 0)
    problems.push(`${unnamed} tools whose names are not up to 128 letters, digits, "_", "-", "." and "/"`);
  return { tools: [...tools.values()], problems };
}

/** A tool, or what is wrong with it. */
function toolOf(
  said: JsonObject,
  name: string,
  { config, identity }: { readonly config: ServerConfig; readonly identity: string },
): Omit<Tool, 'call'> | string {
  const given = said['inputSchema'];
  if (tooDeep(given) || JSON.stringify(given ?? {}).length > mostSchema)
    return 'its input schema is too large';
  const inputSchema = acceptableSchema(given);
  if (inputSchema === undefined) return 'its input schema describes no object';
  if (objectOf(said['execution'])['taskSupport'] === 'required') return 'it can only be called as a task';
  const description = textOf(said['description']) ?? '';
  const title = textOf(said['title']) ?? textOf(objectOf(said['annotations'])['title']);
  const annotations = annotationsOf(objectOf(said['annotations']));
  return {
    name: toolName(config.name, name),
    server: config.name,
    tool: name,
    description: description.slice(0, mostDescription).toWellFormed(),
    inputSchema,
    annotations,
    trusted: config.trust,
    identity,
    definition: definitionOf({ name, title, description, inputSchema, annotations }),
  };
}

function annotationsOf(said: JsonObject): Annotations {
  const hints = ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'] as const;
  return Object.fromEntries(
    hints.flatMap((hint) => (typeof said[hint] === 'boolean' ? [[hint, said[hint]]] : [])),
  );
}
