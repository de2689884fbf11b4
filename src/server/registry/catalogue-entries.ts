import * as z from 'zod';
import { acceptedOf } from '../../core/accepted.ts';
import type { AnyAction, AnyProgram } from '../../core/database-program.ts';
import { annotationsOf, type ToolFacts } from '../../core/tool.ts';
import { describeAction, factsOf } from '../../machine/actions/describe.ts';
import type { JsonSchema, ToolDefinition } from '../../core/tool-definition.ts';
import type { Catalogue } from '../../machine/catalogue.ts';
import type { BuiltInTool } from '../../tools/define-tool.ts';

/** Programs and their actions as a catalogue has them; `file` is where their code is found. */
export const programEntries = (
  all: readonly { readonly of: AnyProgram; readonly file: string }[],
): Catalogue => ({
  programs: all.map(({ file, of }) => ({ ...factsOf(of), file })),
  tools: all.flatMap(({ of }) => actionEntries(of)),
});

function actionEntries(of: AnyProgram): ToolDefinition[] {
  const engine = 'engine' in of ? of.engine : undefined;
  return Object.entries<AnyAction>(of.actions).map(([name, action], rank) => ({
    action: name,
    rank,
    example: action.given ?? {},
    ...of.listed?.[name],
    ...(action.role ? { role: action.role, ...beginningOf(action) } : {}),
    ...('run' in action && 'reads' in action.run ? { reads: true as const } : {}),
    ...(engine && 'databaseQuestion' in action ? { engine } : {}),
    ...toolEntry(describeAction(of, name, action)),
  }));
}

/** A built-in tool as a catalogue has it: a composite tool among the actions of its program. */
export function builtInEntry(tool: BuiltInTool): ToolDefinition {
  const { composite } = tool;
  return {
    ...(composite && { action: composite.action, rank: 0, example: composite.example }),
    ...toolEntry(tool),
  };
}

/** The first word of an action's line, which tells it from others of a program that does many things. */
function beginningOf(action: AnyAction): { begins?: string } {
  if (!('run' in action) || 'reads' in action.run || 'alternatives' in action.run) return {};
  const [first] = typeof action.run === 'function' ? action.run({} as never) : action.run;
  return typeof first === 'string' ? { begins: first } : {};
}

/** A tool as clients see it, and what decides whether they do. */
function toolEntry(tool: ToolFacts): ToolDefinition {
  const { hint, aliases, listed, startsPrograms, inEveryToolset, onlyWaits } = tool;
  return {
    name: tool.name,
    program: tool.program,
    effects: tool.effects,
    title: tool.title,
    description: tool.description,
    inputSchema: asJsonSchema(tool.params),
    annotations: annotationsOf(tool.effects),
    ...(hint !== undefined && { hint }),
    ...(aliases && { aliases }),
    ...(listed && { listed }),
    ...(startsPrograms && { startsPrograms }),
    ...(inEveryToolset && { inEveryToolset }),
    ...(onlyWaits && { onlyWaits }),
  };
}

/**
 * Keywords that a model need not be told to call a tool: the server checks all of it, and its errors say what
 * was expected.
 */
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
