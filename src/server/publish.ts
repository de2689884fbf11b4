import * as z from 'zod';
import { toolName, type AnyDiscoverer, type Effect } from '../core/discoverer.ts';
import { annotationsOf, type Tool } from '../core/tool.ts';
import { discoverers } from '../discoverers/index.ts';
import { fileTools } from '../filesystem/index.ts';
import type { Services } from '../filesystem/services.ts';
import { paramsOf, resultOf } from '../machine/action-tool.ts';
import type { ProgramFacts } from '../machine/installation.ts';
import { ownTools } from './own-tools.ts';

/** A tool as clients see it, and what is needed to decide whether they do. */
export interface PublishedTool {
  readonly name: string;
  readonly program: string;
  /** Left out for tools of our own. */
  readonly action?: string;
  readonly effects: readonly Effect[];
  readonly title: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
  readonly outputSchema?: JsonSchema;
  readonly annotations: ReturnType<typeof annotationsOf>;
}

type JsonSchema = { type: 'object'; [key: string]: unknown };

export interface Manifest {
  readonly programs: readonly ProgramFacts[];
  readonly tools: readonly PublishedTool[];
}

/**
 * Everything that can be offered, worked out from the discoverers and our own tools. It takes some 100 ms, mostly
 * zod's, so the build does it once and puts the answer in the place of manifest.ts.
 */
export async function publish(): Promise<Manifest> {
  const all = await Promise.all(Object.values(discoverers).map((load) => load()));
  const own = await Promise.all([
    ...Object.values(fileTools).map((load) => load(undefined as unknown as Services)),
    ...Object.values(ownTools).map((load) => load(undefined as never)),
  ]);
  const tools = [...own.map(publishTool), ...all.flatMap(publishActions)];
  return {
    programs: all.map(factsOf),
    tools: tools.sort((a, b) => (a.name < b.name ? -1 : 1)),
  };
}

function factsOf(discoverer: AnyDiscoverer): ProgramFacts {
  const { id, title, category, homepage, programs, version, elsewhere, install, signals, environment } =
    discoverer;
  return {
    id,
    title,
    category,
    homepage,
    programs,
    install,
    ...(version ? { version } : {}),
    ...(elsewhere ? { elsewhere } : {}),
    ...(signals ? { signals } : {}),
    ...(environment ? { environment } : {}),
  };
}

function publishActions(discoverer: AnyDiscoverer): PublishedTool[] {
  return Object.entries(discoverer.actions).map(([name, action]) => {
    const result = resultOf(action);
    return {
      action: name,
      ...publishTool({
        name: toolName(discoverer, name),
        program: discoverer.id,
        title: action.title,
        description: action.description,
        effects: action.effects,
        params: paramsOf(action),
        ...(result ? { result } : {}),
      }),
    };
  });
}

function publishTool(tool: Omit<Tool, 'call'>): PublishedTool {
  return {
    name: tool.name,
    program: tool.program,
    effects: tool.effects,
    title: tool.title,
    description: tool.description,
    inputSchema: asJsonSchema(tool.params, 'input'),
    ...(tool.result ? { outputSchema: asJsonSchema(tool.result, 'output') } : {}),
    annotations: annotationsOf(tool.effects),
  };
}

/** What a model need not be told to call a tool: the server checks all of it, and its errors say what was expected. */
const unsaid = ['pattern', 'format', 'minLength', 'maxLength', 'maxItems'] as const;

/** JSON Schema 2020-12 without what only costs tokens. */
function asJsonSchema(schema: z.ZodObject, io: 'input' | 'output'): JsonSchema {
  const { $schema: _dialect, ...json } = z.toJSONSchema(schema, {
    io,
    override: ({ jsonSchema }) => {
      // The bounds that zod gives every integer.
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
      if (io === 'output') return;
      for (const key of unsaid) delete jsonSchema[key];
      if (isNothing(jsonSchema.default)) delete jsonSchema.default;
      if (
        jsonSchema.description &&
        typeof jsonSchema.items === 'object' &&
        'description' in jsonSchema.items
      ) {
        delete jsonSchema.items.description;
      }
    },
  });
  return json as JsonSchema;
}

/** A default that is the absence of something says nothing the description does not. */
const isNothing = (value: unknown): boolean =>
  value === false || (Array.isArray(value) && value.length === 0);

export { asJson } from './manifest-json.ts';
