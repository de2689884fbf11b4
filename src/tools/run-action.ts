import * as z from 'zod';
import { runPlannedCalls } from '../machine/actions/acts.ts';
import { actionParams, planAction } from './catalogue/named-action.ts';
import { defineTool } from './define-tool.ts';

/** Runs any action of the catalogue. Decisions and questions are about that action, not about this tool. */
export default defineTool({
  name: 'run_action',
  title: 'Run an action',
  description: 'Runs any action that find_actions named.',
  hint: 'run an action that find_actions named',
  listed: 'yes',
  startsPrograms: true,
  inEveryToolset: true,
  effects: ['write', 'execute', 'network', 'publish', 'destroy'],
  params: actionParams.extend({
    background: z.boolean().default(false).describe('Answers once it has begun: servers, watchers'),
  }),
  async plan({ background, ...request }, context) {
    const { plan } = await planAction(request, context);
    return { ...plan, background: background || plan.background === true };
  },
  run: runPlannedCalls,
});
