import * as z from 'zod';
import { toolName } from '../core/discoverer.ts';
import type { Program } from '../core/program.ts';
import { annotationsOf, type ToolFacts } from '../core/tool.ts';
import { discoverers } from '../discoverers/index.ts';
import { fileTools } from '../filesystem/index.ts';
import type { Services } from '../filesystem/services.ts';
import { describeAction, factsOf } from '../machine/actions/describe.ts';
import { ownTools } from './own-tools.ts';
import type { JsonSchema, Manifest, PublishedTool } from './published.ts';

/**
 * Everything that can be offered, worked out from the discoverers and our own tools. It takes some 100 ms, mostly
 * zod's, so the build does it once and puts the answer in the place of manifest.ts.
 */
export async function publish(): Promise<Manifest> {
  const files = await Promise.all(
    Object.entries(discoverers).map(async ([file, load]) =>
      [(await load()).default].flat().map((of) => ({ file, of })),
    ),
  );
  const all = files.flat();
  const own = await Promise.all([
    ...Object.values(fileTools).map((load) => load({} as Services)),
    ...Object.values(ownTools).map((load) => load({} as never)),
  ]);
  const tools = [...own.map(publishTool), ...all.flatMap(({ of }) => publishActions(of))];
  return {
    programs: all.map(({ file, of }) => ({ ...factsOf(of), file })),
    examples: Object.fromEntries(all.flatMap(({ of }) => examplesOf(of))),
    tools: tools.sort((a, b) => (a.name < b.name ? -1 : 1)),
  };
}

const examplesOf = (of: Program) =>
  Object.entries(of.actions).map(([key, { given }]) => [toolName(of, key), given ?? {}] as const);

const publishActions = (of: Program): PublishedTool[] =>
  Object.entries(of.actions).map(([name, action]) => ({
    action: name,
    ...(action.asks ? { asks: action.database } : {}),
    ...publishTool(describeAction(of, name, action)),
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
