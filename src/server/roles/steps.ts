import { checkParams } from '../../core/check-params.ts';
import type { Plan, PlanContext, Tool } from '../../core/tool.ts';

/** One act of several that a call consists of. */
export interface Step<About = unknown> {
  readonly tool: Tool;
  readonly plan: Plan;
  readonly about: About;
}

/** Plans an action for a call that consists of several. Throws what planning throws. */
export async function stepOf<About>(
  tool: Tool,
  values: Readonly<Record<string, unknown>>,
  about: About,
  context: PlanContext,
): Promise<Step<About>> {
  const plan = await tool.plan(checkParams(tool.params, values), context);
  return { tool, plan: { ...plan, tool: plan.tool ?? tool.name }, about };
}

/** One plan for acts that follow each other; each is decided about by itself. There is at least one. */
export function planOf<About>(steps: readonly Step<About>[]): Plan<readonly Step<About>[]> {
  const plans = steps.map(({ plan }) => plan);
  const [first] = plans;
  if (!first) throw new Error('a call of no acts');
  const previews = plans.flatMap(({ preview }) => preview ?? []);
  const { lasting: _lasting, ...rest } = first;
  return {
    ...(plans.length === 1 ? first : rest),
    effects: [...new Set(plans.flatMap(({ effects }) => effects))],
    subject: plans.map(({ subject }) => subject).join(' && '),
    touches: plans.flatMap(({ touches }) => touches),
    ...(previews.length > 0 && { preview: previews.join('\n') }),
    takenBack: plans.every(({ takenBack }) => takenBack),
    exactly: JSON.stringify(plans.map(({ exactly }) => exactly)),
    parts: plans,
    work: steps,
  };
}
