import { checkParams } from '../../core/check-params.ts';
import {
  textOf,
  type CallContext,
  type Plan,
  type PlanContext,
  type Tool,
  type Result,
} from '../../core/tool.ts';

/** One act of another tool, for a call that stands for it, or for several. */
export interface PlannedCall<About = unknown> {
  readonly tool: Tool;
  readonly plan: Plan;
  readonly about: About;
}

/** Plans an act. Throws ARG_INVALID, and what planning throws. */
export async function planCallOf<About>(
  tool: Tool,
  values: Readonly<Record<string, unknown>>,
  context: PlanContext,
  about: About,
): Promise<PlannedCall<About>> {
  const plan = await tool.plan(checkParams(tool.params, values), context);
  return { tool, plan: { ...plan, tool: plan.tool ?? tool.name }, about };
}

/** One plan for acts that follow each other; each is decided about by itself. There is at least one. */
export function combinePlans<About>(
  acts: readonly PlannedCall<About>[],
): Plan<readonly PlannedCall<About>[]> {
  const plans = acts.map(({ plan }) => plan);
  const [first, ...others] = plans;
  if (!first) throw new Error('a call of no acts');
  if (others.length === 0) return { ...first, work: acts };
  const previews = plans.flatMap(({ preview }) => preview ?? []);
  const { grant: _grant, tool: _tool, title: _title, ...rest } = first;
  return {
    ...rest,
    effects: [...new Set(plans.flatMap(({ effects }) => effects))],
    subject: plans.map(({ subject }) => subject).join(' && '),
    paths: plans.flatMap(({ paths }) => paths),
    ...(previews.length > 0 && { preview: previews.join('\n') }),
    isUndoable: plans.every(({ isUndoable }) => isUndoable),
    fingerprint: JSON.stringify(plans.map(({ fingerprint }) => fingerprint)),
    parts: plans,
    work: acts,
  };
}

/** Does what was planned, one after another. */
export async function runPlannedCalls(
  { work }: Plan<readonly PlannedCall[]>,
  context: CallContext,
): Promise<Result> {
  const results: Result[] = [];
  for (const { tool, plan } of work) results.push(await tool.run(plan, context));
  const [first] = results;
  if (first && results.length === 1) return first;
  const isError = results.some((result) => result.isError);
  return { content: [{ type: 'text', text: results.map(textOf).join('\n') }], ...(isError && { isError }) };
}
