import * as z from 'zod';
import type { Values } from '../../core/command-line.ts';
import { toolName } from '../../core/discoverer.ts';
import { ToolcribError } from '../../core/errors.ts';
import type { Program } from '../../core/program.ts';
import type { PlanContext, Tool } from '../../core/tool.ts';
import { combinePlans, planCallOf, runPlannedCalls, type PlannedCall } from '../../machine/actions/acts.ts';
import type { BuiltInTool } from '../define-tool.ts';

/** One value of `action`: the first of these actions of the program that can be done now, with fixed values. */
type Choice = string | { readonly first: readonly string[]; readonly with: Values };

/** One tool over several actions that people think of as one; its parameter `action` says which. */
interface CompositeSpec {
  /** The part of its name behind that of the program. */
  readonly action: string;
  readonly title: string;
  readonly description: string;
  readonly hint: string;
  readonly does: Readonly<Record<string, Choice>>;
  /** The parameters of the actions that it takes, and what each is. */
  readonly takes: Readonly<Record<string, string>>;
}

/** A composite tool: what is decided, asked and told is about the action that it comes to. */
export function compositeTool(of: Program, spec: CompositeSpec): BuiltInTool {
  const { action, title, description, hint, does, takes } = spec;
  const actions = Object.values(does).flatMap((choice) => partsOf(choice).first);
  const effects = actions.flatMap((one) => of.actions[one]?.effects ?? []);
  return {
    name: toolName(of, action),
    program: of.id,
    title,
    description,
    hint,
    listed: 'yes',
    composite: { action, example: exampleOf(of, spec) },
    effects: [...new Set(effects)],
    params: z.strictObject({
      action: z.enum(Object.keys(does)).describe('What to do'),
      ...Object.fromEntries(
        Object.entries(takes).map(([name, says]) => [name, schemaOf(of, actions, name, says)]),
      ),
      cwd: z.string().min(1).optional(),
    }),
    async plan({ action: chosen, ...values }: Record<string, unknown>, context) {
      const { session } = context;
      const { first, with: fixed } = partsOf(does[String(chosen)] ?? String(chosen));
      const tools = await Promise.all(
        first.map((one) => session.load(session.tools.find(toolName(of, one)))),
      );
      return combinePlans([await firstCall(tools, { ...values, ...fixed }, String(chosen), context)]);
    },
    run: runPlannedCalls,
  };
}

const partsOf = (choice: Choice) => (typeof choice === 'string' ? { first: [choice], with: {} } : choice);

/** The parameter of the first action that has it, which need not be given. */
function schemaOf(of: Program, actions: readonly string[], name: string, says: string): z.ZodType {
  const schema = actions.map((one) => of.actions[one]?.params[name]?.schema).find(Boolean);
  if (!schema) throw new Error(`${of.id}: no action takes ${name}`);
  return withoutDefault(schema).optional().describe(says);
}

const withoutDefault = (schema: z.ZodType): z.ZodType =>
  schema instanceof z.ZodDefault || schema instanceof z.ZodOptional
    ? withoutDefault(schema.unwrap() as z.ZodType)
    : schema;

/** The example of the first of its actions. */
function exampleOf({ actions }: Program, { does, takes }: CompositeSpec): object {
  const [name = '', choice = ''] = Object.entries(does)[0] ?? [];
  const given = typeof choice === 'string' ? actions[choice]?.given : {};
  return { action: name, ...Object.fromEntries(Object.entries(given ?? {}).filter(([key]) => key in takes)) };
}

/** The call of the first tool that can do it; else throws why the first one cannot. */
async function firstCall(
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
