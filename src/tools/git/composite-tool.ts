import * as z from 'zod';
import type { Values } from '../../core/command-line.ts';
import { toolName } from '../../core/discoverer.ts';
import { ToolcribError } from '../../core/errors.ts';
import type { Program } from '../../core/program.ts';
import type { PlanContext, Tool } from '../../core/tool.ts';
import { combinePlans, planCallOf, runPlannedCalls, type PlannedCall } from '../../machine/actions/acts.ts';
import type { BuiltInTool } from '../define-tool.ts';

/**
 * The action of the program that a value of `action` stands for; or several with fixed values, of which the
 * first that can be done now is taken.
 */
type ActionChoice = string | { readonly first: readonly string[]; readonly with: Values };

/** The facts of a tool that puts several actions of a program behind a parameter `action`. */
interface CompositeSpec {
  /** The part of the tool's name behind the program: `switch` of `git_switch`. */
  readonly action: string;
  readonly title: string;
  readonly description: string;
  readonly hint: string;
  /** The values of `action`, each with the actions of the program that do it. */
  readonly does: Readonly<Record<string, ActionChoice>>;
  /** The parameters that it passes on to the actions, with their descriptions. */
  readonly takes: Readonly<Record<string, string>>;
}

/**
 * Defines a composite tool. Decisions, questions and answers are those of the action that a call comes to.
 */
export function compositeTool(owner: Program, spec: CompositeSpec): BuiltInTool {
  const { action, title, description, hint, does, takes } = spec;
  const actions = Object.values(does).flatMap((choice) => alternativesOf(choice).first);
  const effects = actions.flatMap((id) => owner.actions[id]?.effects ?? []);
  return {
    name: toolName(owner, action),
    program: owner.id,
    title,
    description,
    hint,
    listed: 'yes',
    composite: { action, example: exampleOf(owner, spec) },
    effects: [...new Set(effects)],
    params: z.strictObject({
      action: z.enum(Object.keys(does)).describe('What to do'),
      ...Object.fromEntries(
        Object.entries(takes).map(([name, text]) => [name, optionalParam(owner, actions, name, text)]),
      ),
      cwd: z.string().min(1).optional(),
    }),
    async plan({ action: chosen, ...values }: Record<string, unknown>, context) {
      const { session } = context;
      const { first, with: fixed } = alternativesOf(does[String(chosen)] ?? String(chosen));
      const tools = await Promise.all(
        first.map((id) => session.load(session.tools.find(toolName(owner, id)))),
      );
      return combinePlans([await planFirst(tools, { ...values, ...fixed }, String(chosen), context)]);
    },
    run: runPlannedCalls,
  };
}

const alternativesOf = (choice: ActionChoice) =>
  typeof choice === 'string' ? { first: [choice], with: {} } : choice;

/** The parameter as the first action that has it declares it, but optional and without a default. */
function optionalParam(
  owner: Program,
  actions: readonly string[],
  name: string,
  description: string,
): z.ZodType {
  const schema = actions.map((id) => owner.actions[id]?.params[name]?.schema).find(Boolean);
  if (!schema) throw new Error(`${owner.id}: no action takes ${name}`);
  return withoutDefault(schema).optional().describe(description);
}

const withoutDefault = (schema: z.ZodType): z.ZodType =>
  schema instanceof z.ZodDefault || schema instanceof z.ZodOptional
    ? withoutDefault(schema.unwrap() as z.ZodType)
    : schema;

/** The example arguments of the first action, as far as the composite tool takes them. */
function exampleOf({ actions }: Program, { does, takes }: CompositeSpec): object {
  const [name = '', choice = ''] = Object.entries(does)[0] ?? [];
  const given = typeof choice === 'string' ? actions[choice]?.given : {};
  return { action: name, ...Object.fromEntries(Object.entries(given ?? {}).filter(([key]) => key in takes)) };
}

/** Plans a call of the first tool that can do it. Throws what the first tool throws when none can. */
async function planFirst(
  tools: readonly Tool[],
  values: Readonly<Record<string, unknown>>,
  action: string,
  context: PlanContext,
): Promise<PlannedCall> {
  let failure: unknown;
  for (const tool of tools) {
    try {
      return await planCallOf(tool, acceptedValues(tool, values, action), context, undefined);
    } catch (error) {
      if (!(error instanceof ToolcribError)) throw error;
      failure ??= error;
    }
  }
  throw failure;
}

/** The values that are present. Throws ARG_INVALID for one that the action does not take. */
function acceptedValues(
  { params: { shape } }: Tool,
  values: Readonly<Record<string, unknown>>,
  action: string,
) {
  const present = Object.entries(values).filter(([, value]) => value !== undefined);
  const unknown = present.find(([name]) => !(name in shape));
  if (unknown)
    throw new ToolcribError(
      'ARG_INVALID',
      `${unknown[0]}: action=${action} does not take it.`,
      `It takes ${Object.keys(shape).join(', ')}.`,
    );
  return Object.fromEntries(present);
}
