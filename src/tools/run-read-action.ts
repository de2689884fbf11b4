import { ToolcribError } from '../core/errors.ts';
import { looksOnly } from '../core/policy.ts';
import { runPlannedCalls } from '../machine/actions/acts.ts';
import { actionParams, planAction } from './catalogue/plan-action.ts';
import { defineTool } from './define-tool.ts';

/** Runs an action of the catalogue that only looks, so that what hosts are told about this tool is true. */
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
  async plan(wanted, context) {
    const { plan, call } = await planAction(wanted, context);
    if (looksOnly(call.tool.effects)) return plan;
    throw new ToolcribError(
      'ARG_INVALID',
      `action: ${wanted.action} can change something.`,
      'run_action runs it.',
    );
  },
  run: runPlannedCalls,
});
