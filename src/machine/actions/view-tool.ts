import * as z from 'zod';
import { toolName } from '../../core/discoverer.ts';
import { ToolcribError } from '../../core/errors.ts';
import type { Action, Choice, Program, View } from '../../core/program.ts';
import type { PlanContext, Tool, ToolFacts } from '../../core/tool.ts';
import { planCallOf, combinePlans, runPlannedCalls, type PlannedCall } from './acts.ts';

const partsOf = (choice: Choice) => (typeof choice === 'string' ? { first: [choice], with: {} } : choice);

/** What a view looks like to a caller: `action`, and what some of its actions take. */
export function describeView(
  of: Program<Action>,
  key: string,
  { title, description, does, takes }: View,
): ToolFacts {
  const actions = Object.values(does).flatMap((choice) => partsOf(choice).first);
  const params = Object.entries(takes).map(([name, says]) => {
    const schema = actions.map((action) => of.actions[action]?.params[name]?.schema).find(Boolean);
    if (!schema) throw new Error(`${of.id}_${key}: no action takes ${name}`);
    return [name, withoutDefault(schema).optional().describe(says)] as const;
  });
  const effects = actions.flatMap((action) => of.actions[action]?.effects ?? []);
  return {
    name: toolName(of, key),
    program: of.id,
    title,
    description,
    effects: [...new Set(effects)],
    params: z.strictObject({
      action: z.enum(Object.keys(does)).describe('What to do'),
      ...Object.fromEntries(params),
      cwd: z.string().min(1).optional(),
    }),
  };
}

const withoutDefault = (schema: z.ZodType): z.ZodType =>
  schema instanceof z.ZodDefault || schema instanceof z.ZodOptional
    ? withoutDefault(schema.unwrap() as z.ZodType)
    : schema;

/** A view as a tool: what is decided, asked and told is about the action that it comes to. */
export function viewTool(
  of: Program<Action>,
  key: string,
  view: View,
  toolOf: (action: string) => Tool,
): Tool {
  return {
    ...describeView(of, key, view),
    async plan({ action, ...values }: Record<string, unknown>, context) {
      const { first, with: fixed } = partsOf(view.does[String(action)] ?? String(action));
      return combinePlans([
        await firstAct(first.map(toolOf), { ...values, ...fixed }, String(action), context),
      ]);
    },
    run: runPlannedCalls,
  };
}

/** That of the first tool that can do it; else throws why the first one cannot. */
async function firstAct(
  tools: readonly Tool[],
  values: Readonly<Record<string, unknown>>,
  action: string,
  context: PlanContext,
): Promise<PlannedCall> {
  let failure: unknown;
  for (const tool of tools) {
    try {
      return await planCallOf(tool, fitting(tool, values, action), context, undefined);
    } catch (error) {
      if (!(error instanceof ToolcribError)) throw error;
      failure ??= error;
    }
  }
  throw failure;
}

/** The values that were given. Throws ARG_INVALID for one that this action does not take. */
function fitting({ params: { shape } }: Tool, values: Readonly<Record<string, unknown>>, action: string) {
  const given = Object.entries(values).filter(([, value]) => value !== undefined);
  const wrong = given.find(([name]) => !(name in shape));
  if (wrong)
    throw new ToolcribError(
      'ARG_INVALID',
      `${wrong[0]}: action=${action} does not take it.`,
      `It takes ${Object.keys(shape).join(', ')}.`,
    );
  return Object.fromEntries(given);
}
