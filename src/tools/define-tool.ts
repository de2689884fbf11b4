import type * as z from 'zod';
import { pathsIn, type CallContext, type Plan, type PlanContext } from '../core/tool.ts';
import type { Result, Tool, ToolFacts } from '../core/tool.ts';
import type { Session } from '../machine/session.ts';

/** The context in which a call of a built-in tool is planned; nothing is changed yet. */
export interface ToolPlanContext extends PlanContext {
  readonly session: Session;
}

/** The context in which a planned call of a built-in tool runs. */
export interface ToolCallContext extends CallContext {
  readonly session: Session;
}

// Tools differ in the types of their values and of their work, which a list of tools cannot name.
/* oxlint-disable typescript/no-explicit-any */
/** A built-in tool with its facts, before `bindTool` gives it a session. */
export interface BuiltInTool extends ToolFacts {
  /** The facts of a composite tool: one that stands for several actions of its program. */
  readonly composite?: { readonly action: string; readonly example: object };
  plan(values: any, context: ToolPlanContext): Promise<Plan<any>>;
  run(plan: Plan<any>, context: ToolCallContext): Promise<Result>;
}
/* oxlint-enable typescript/no-explicit-any */

/** The facts of a tool as its file gives them. */
interface ToolSpec<P extends z.ZodObject> extends Omit<ToolFacts, 'program' | 'aliases' | 'params' | 'hint'> {
  /** The toolset that has the tool; `toolcrib` when left out. */
  readonly toolset?: string;
  /** Other names that models bring for the tool, separated by blanks. */
  readonly aliases?: string;
  /** Words that hosts find the tool by; not needed by a tool that is not listed. */
  readonly hint?: string;
  readonly listed: NonNullable<ToolFacts['listed']>;
  readonly params: P;
}

/** A tool whose calls have two halves: `plan` looks and changes nothing, `run` does what was planned. */
interface ToolWithPlan<P extends z.ZodObject, Work> {
  plan(values: z.output<P>, context: ToolPlanContext): Promise<Plan<Work>>;
  run(plan: Plan<Work>, context: ToolCallContext): Promise<Result>;
}

/** A tool whose calls need no look before they run: the values of the call are its work. */
interface ToolWithoutPlan<P extends z.ZodObject> {
  readonly plan?: never;
  run(plan: Plan<z.output<P>>, context: ToolCallContext): Promise<Result>;
}

/** Defines a built-in tool: `plan` takes the values that `params` accepts, and `run` takes the plan. */
export function defineTool<P extends z.ZodObject, Work>(
  spec: ToolSpec<P> & ToolWithPlan<P, Work>,
): BuiltInTool;
export function defineTool<P extends z.ZodObject>(spec: ToolSpec<P> & ToolWithoutPlan<P>): BuiltInTool;
export function defineTool(
  spec: ToolSpec<z.ZodObject> & { plan?: BuiltInTool['plan']; run: BuiltInTool['run'] },
): BuiltInTool {
  const { toolset = 'toolcrib', aliases, plan, run, ...facts } = spec;
  const tool: ToolFacts = {
    ...facts,
    program: toolset,
    ...(aliases !== undefined && { aliases: aliases.split(' ') }),
  };
  return { ...tool, plan: plan ?? (async (values, context) => planFromValues(tool, values, context)), run };
}

/** Plans a call by its values alone; the subject is the tool with its paths: `read_file src/a.ts`. */
function planFromValues(
  { name, effects, params }: ToolFacts,
  values: object,
  { workspace }: PlanContext,
): Plan<object> {
  const paths = pathsIn(params, values);
  return {
    effects,
    subject: [name, ...paths].join(' '),
    folder: workspace.roots[0] ?? '',
    paths,
    isUndoable: false,
    fingerprint: JSON.stringify(values),
    work: values,
  };
}

/** Binds a built-in tool to the session whose calls it serves. */
export function bindTool(tool: BuiltInTool, session: Session): Tool {
  return {
    ...tool,
    plan: (values, context) => tool.plan(values, { ...context, session }),
    run: (plan, context) => tool.run(plan, { ...context, session }),
  };
}
