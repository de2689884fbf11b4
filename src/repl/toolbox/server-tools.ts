import type { Client, StandardSchemaV1 } from '@modelcontextprotocol/client';
import type { ServerConfig } from '../config/server-config.ts';
import { tooDeep } from '../nesting.ts';
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
  readonly next: string | undefined;
}

/** Takes the page as it is: the SDK's own schema would refuse a whole server for one bad tool. */
const anyPage: StandardSchemaV1<unknown, Page> = {
  '~standard': {
    version: 1,
    vendor: 'toolcrib',
    validate: (value) => {
      const { tools, nextCursor } = objectOf(value);
      const next = typeof nextCursor === 'string' && nextCursor !== '' ? nextCursor : undefined;
      return { value: { tools: listOf(tools), next } };
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
  const raw: unknown[] = [];
  let cursor: string | undefined;
  for (let pages = 0; pages < mostPages; pages++) {
    const params = cursor === undefined ? {} : { cursor };
    const page: Page = await client.request({ method: 'tools/list', params }, anyPage, {
      timeout,
    });
    raw.push(...page.tools);
    cursor = page.next;
    if (cursor === undefined) break;
  }
  const tools = new Map<string, Omit<Tool, 'call'>>();
  const problems: string[] = [];
  let unnamed = 0;
  for (const one of raw) {
    const { name, inputSchema, ...said } = objectOf(one);
    if (typeof name !== 'string' || !usualName.test(name)) unnamed++;
    else if (isWanted(name, config.tools)) {
      if (tooDeep(inputSchema) || JSON.stringify(inputSchema ?? {}).length > mostSchema) {
        problems.push(`"${name}": its input schema is too large`);
        continue;
      }
      const schema = acceptableSchema(inputSchema);
      if (schema === undefined) problems.push(`"${name}": its input schema describes no object`);
      else if (tools.has(name)) problems.push(`"${name}" was listed twice`);
      else if (objectOf(said['execution'])['taskSupport'] === 'required')
        problems.push(`"${name}": it can only be called as a task`);
      else tools.set(name, toolOf(config, identity, { ...said, name, inputSchema: schema }));
    }
  }
  if (unnamed > 0)
    problems.push(`${unnamed} tools whose names are not up to 128 letters, digits, "_", "-", "." and "/"`);
  return { tools: [...tools.values()], problems };
}

function toolOf(
  config: ServerConfig,
  identity: string,
  said: JsonObject & {
    readonly name: string;
    readonly inputSchema: Tool['inputSchema'];
  },
): Omit<Tool, 'call'> {
  const description = textOf(said['description']) ?? '';
  const title = textOf(said['title']) ?? textOf(objectOf(said['annotations'])['title']);
  const annotations = annotationsOf(objectOf(said['annotations']));
  const { name, inputSchema } = said;
  // Of a server that is not trusted, nobody believes it.
  const asksItself = objectOf(said['_meta'])['toolcrib/asksItself'] === true ? { asksItself: true } : {};
  return {
    name: toolName(config.name, name),
    server: config.name,
    tool: name,
    ...(title === undefined ? {} : { title }),
    description: description.slice(0, mostDescription).toWellFormed(),
    inputSchema,
    annotations,
    trusted: config.trust,
    identity,
    ...asksItself,
    definition: definitionOf({ name, title, description, inputSchema, annotations, ...asksItself }),
  };
}

function annotationsOf(said: JsonObject): Annotations {
  const hints = ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'] as const;
  return Object.fromEntries(
    hints.flatMap((hint) => (typeof said[hint] === 'boolean' ? [[hint, said[hint]]] : [])),
  );
}
