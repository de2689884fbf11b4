import { ToolcribError } from '../core/errors.ts';
import { looksOnly } from '../core/policy.ts';
import { runPlannedCalls } from '../machine/actions/acts.ts';
import { actionParams, planAction } from './catalogue/named-action.ts';
import { defineTool } from './define-tool.ts';

/** Runs an action of the catalogue that only reads, so that hosts need not ask before this tool. */
export default defineTool({
  name: 'run_read_action',
  title: 'Run a reading action',
  description: 'Runs an action that find_actions named and that changes nothing.',
  hint: 'run a looking action of find_actions',
  listed: 'yes',
  startsPrograms: true,
  inEveryToolset: true,
  effects: ['read', 'network'],
  params: actionParams,
  async plan(request, context) {
    const { plan, call } = await planAction(request, context);
    if (looksOnly(call.tool.effects)) return plan;
    throw new ToolcribError(
      'ARG_INVALID',
      `action: ${request.action} can change something.`,
      'run_action runs it.',
    );
  },
  run: runPlannedCalls,
});
