import * as z from 'zod';
import { acceptedOf } from '../../core/accepted.ts';
import type { AnyProgram } from '../../core/database-program.ts';
import type { Action, Program, View } from '../../core/program.ts';
import { annotationsOf, type ToolFacts } from '../../core/tool.ts';
import { describeAction, factsOf } from '../../machine/actions/describe.ts';
import { describeView } from '../../machine/actions/view-tool.ts';
import type { JsonSchema, Catalogue, ToolDefinition } from '../published.ts';

/** Programs as a manifest has them; `file` is where their code is found. */
export const programCatalogue = (
  all: readonly { readonly of: AnyProgram; readonly file: string }[],
): Catalogue => ({
  programs: all.map(({ file, of }) => ({ ...factsOf(of), file })),
  tools: all.flatMap(({ of }) => publishActions(of)),
});

/** Of the first of its actions. */
function exampleOf({ actions }: Program<Action>, { does, takes }: View) {
  const [name = '', choice = ''] = Object.entries(does)[0] ?? [];
  const given = typeof choice === 'string' ? actions[choice]?.given : {};
  return { action: name, ...Object.fromEntries(Object.entries(given ?? {}).filter(([key]) => key in takes)) };
}

function publishActions(of: AnyProgram): ToolDefinition[] {
  const engine = 'engine' in of ? of.engine : undefined;
  const isListed = (key: string) => (of.listed?.includes(key) ? { listed: true as const } : {});
  const actions = Object.entries<Action>(of.actions).map(([name, action], rank) => ({
    action: name,
    rank,
    example: action.given ?? {},
    ...isListed(name),
    ...(action.role ? { role: action.role, ...beginningOf(action) } : {}),
    ...(readsFile(action) ? { reads: true as const } : {}),
    ...(engine && 'databaseQuestion' in action ? { engine } : {}),
    ...toolDefinition(describeAction(of, name, action)),
  }));
  const views = Object.entries(of.views ?? {}).map(([name, view]) => ({
    action: name,
    rank: 0,
    example: exampleOf(of, view),
    ...isListed(name),
    ...toolDefinition(describeView(of, name, view)),
  }));
  return [...views, ...actions];
}

const readsFile = (action: Action): boolean =>
  'run' in action && typeof action.run === 'object' && action.run !== null && 'reads' in action.run;

/** The first word of an action's line, which tells it from others of a program that does many things. */
function beginningOf(action: Action): { begins?: string } {
  const run = 'run' in action ? action.run : [];
  const pieces: unknown = typeof run === 'function' ? run({}) : run;
  const [first] = Array.isArray(pieces) ? (pieces as readonly unknown[]) : [];
  return typeof first === 'string' ? { begins: first } : {};
}

/** A tool as clients see it. */
export function toolDefinition(tool: ToolFacts): ToolDefinition {
  return {
    name: tool.name,
    program: tool.program,
    effects: tool.effects,
    title: tool.title,
    description: tool.description,
    inputSchema: asJsonSchema(tool.params),
    annotations: annotationsOf(tool.effects),
  };
}

/** What a model need not be told to call a tool: the server checks all of it, and its errors say what was expected. */
const unsaid = [
  'additionalProperties',
  'format',
  'maxItems',
  'maxLength',
  'maximum',
  'minItems',
  'minLength',
  'minimum',
  'pattern',
  'propertyNames',
] as const;

/** JSON Schema 2020-12 without what only costs tokens. */
function asJsonSchema(schema: z.ZodObject): JsonSchema {
  const { $schema: _dialect, ...json } = z.toJSONSchema(schema, {
    io: 'input',
    override: ({ zodSchema, jsonSchema }) => {
      for (const key of unsaid) delete (jsonSchema as Record<string, unknown>)[key];
      if (isNothing(jsonSchema.default)) delete jsonSchema.default;
      if (acceptedOf(zodSchema as unknown as z.ZodType)?.several && jsonSchema.items) {
        const { items } = jsonSchema;
        delete jsonSchema.items;
        Object.assign(jsonSchema, items);
      }
      if (
        jsonSchema.description &&
        typeof jsonSchema.items === 'object' &&
        'description' in jsonSchema.items
      ) {
        delete jsonSchema.items.description;
      }
    },
  });
  const properties = json.properties ?? {};
  for (const [name, param] of Object.entries(schema.shape))
    if (acceptedOf(param as z.ZodType)?.unlisted) delete properties[name];
  return json as JsonSchema;
}

/** A default that is the absence of something says nothing the description does not. */
const isNothing = (value: unknown): boolean =>
  value === false || (Array.isArray(value) && value.length === 0);
