import * as z from 'zod';
import { ToolcribError } from '../../core/errors.ts';
import type { Plan } from '../../core/tool.ts';
import { combinePlans, planCallOf, type PlannedCall } from '../../machine/actions/acts.ts';
import type { ToolPlanContext } from '../define-tool.ts';

export const actionParams = z.strictObject({
  action: z.string().min(1).max(100).describe('As find_actions names it: git_blame'),
  arguments: z.record(z.string(), z.unknown()).default({}).describe('Of the action: {"path": "a.ts"}'),
});

/**
 * Plans an action of a program by its name. Throws UNKNOWN_TOOL, and ARG_INVALID for a built-in tool that
 * could not be called in its place (`resolveBuiltIn` of the registry).
 */
export async function planAction(
  { action, arguments: values }: z.output<typeof actionParams>,
  context: ToolPlanContext,
): Promise<{ readonly plan: Plan<readonly PlannedCall[]>; readonly call: PlannedCall }> {
  const { session } = context;
  const definition = session.tools.find(action);
  if (definition.action === undefined)
    throw new ToolcribError(
      'ARG_INVALID',
      `action: ${action} is no action of a program, or changes something.`,
      'Call it itself.',
    );
  const call = await planCallOf(await session.load(definition), values, context, undefined);
  return { plan: combinePlans([call]), call };
}
