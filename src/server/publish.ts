import * as z from 'zod';
import { toolName, type AnyDiscoverer } from '../core/discoverer.ts';
import { annotationsOf, type ToolFacts } from '../core/tool.ts';
import { discoverers } from '../discoverers/index.ts';
import { fileTools } from '../filesystem/index.ts';
import type { Services } from '../filesystem/services.ts';
import { describeAction } from '../machine/actions/action-tool.ts';
import type { ProgramFacts } from '../machine/programs/installation.ts';
import { ownTools } from './own-tools.ts';
import type { JsonSchema, Manifest, PublishedTool } from './published.ts';

/**
 * Everything that can be offered, worked out from the discoverers and our own tools. It takes some 100 ms, mostly
 * zod's, so the build does it once and puts the answer in the place of manifest.ts.
 */
export async function publish(): Promise<Manifest> {
  const all = await Promise.all(Object.values(discoverers).map((load) => load()));
  const own = await Promise.all([
    ...Object.values(fileTools).map((load) => load({} as Services)),
    ...Object.values(ownTools).map((load) => load({} as never)),
  ]);
  const tools = [...own.map(publishTool), ...all.flatMap(publishActions)];
  return {
    programs: all.map(factsOf),
    examples: Object.fromEntries(all.flatMap(examplesOf)),
    tools: tools.sort((a, b) => (a.name < b.name ? -1 : 1)),
  };
}

const examplesOf = (discoverer: AnyDiscoverer) =>
  Object.entries(discoverer.actions).map(
    ([key, { example }]) => [toolName(discoverer, key), example.given ?? {}] as const,
  );

function factsOf(discoverer: AnyDiscoverer): ProgramFacts {
  const { id, title, category, homepage, programs, install } = discoverer;
  const { version, elsewhere, signals, environment, prefix } = discoverer;
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
    ...(prefix ? { prefix } : {}),
  };
}

const publishActions = (discoverer: AnyDiscoverer): PublishedTool[] =>
  Object.entries(discoverer.actions).map(([name, action]) => ({
    action: name,
    ...('asks' in action ? { asks: action.database } : {}),
    ...publishTool(describeAction(discoverer, name, action)),
  }));

function publishTool(tool: ToolFacts): PublishedTool {
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
