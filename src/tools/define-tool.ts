import type * as z from 'zod';
import { pathsIn, type CallContext, type Plan, type PlanContext } from '../core/tool.ts';
import type { Result, Tool, ToolFacts } from '../core/tool.ts';
import type { Session } from '../machine/session.ts';

/** A call of a built-in tool before it does anything. */
export interface ToolPlanContext extends PlanContext {
  readonly session: Session;
}

export interface ToolCallContext extends CallContext {
  readonly session: Session;
}

// Tools differ in what they take and prepare, so a list of them cannot name it.
/* oxlint-disable typescript/no-explicit-any */
/** A tool of ours, with all that is known of it; `bindTool` gives it a session. */
export interface BuiltInTool extends ToolFacts {
  /** Of one that stands for several actions of its program. */
  readonly composite?: { readonly action: string; readonly example: object };
  plan(values: any, context: ToolPlanContext): Promise<Plan<any>>;
  run(plan: Plan<any>, context: ToolCallContext): Promise<Result>;
}
/* oxlint-enable typescript/no-explicit-any */

interface ToolSpec<P extends z.ZodObject> extends Omit<ToolFacts, 'program' | 'aliases' | 'params' | 'hint'> {
  /** `toolcrib` when left out. */
  readonly toolset?: string;
  /** Separated by blanks. */
  readonly aliases?: string;
  /** Left out of a tool that no host lists. */
  readonly hint?: string;
  readonly listed: NonNullable<ToolFacts['listed']>;
  readonly params: P;
}

/** The halves of a call: `plan` looks and changes nothing, `run` does what was planned. */
interface Planned<P extends z.ZodObject, Work> {
  plan(values: z.output<P>, context: ToolPlanContext): Promise<Plan<Work>>;
  run(plan: Plan<Work>, context: ToolCallContext): Promise<Result>;
}

/** Without `plan` there is nothing to find out about a call: what it does stands in its values, its `work`. */
interface Unplanned<P extends z.ZodObject> {
  readonly plan?: never;
  run(plan: Plan<z.output<P>>, context: ToolCallContext): Promise<Result>;
}

/** Defines a built-in tool: `plan` takes what `params` accepts, and `run` what `plan` prepares. */
export function defineTool<P extends z.ZodObject, Work>(spec: ToolSpec<P> & Planned<P, Work>): BuiltInTool;
export function defineTool<P extends z.ZodObject>(spec: ToolSpec<P> & Unplanned<P>): BuiltInTool;
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

/** `read_file src/a.ts` */
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

/** A built-in tool for the calls of one session. */
export function bindTool(tool: BuiltInTool, session: Session): Tool {
  return {
    ...tool,
    plan: (values, context) => tool.plan(values, { ...context, session }),
    run: (plan, context) => tool.run(plan, { ...context, session }),
  };
}
