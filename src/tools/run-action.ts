import * as z from 'zod';
import { ToolcribError } from '../core/errors.ts';
import { looksOnly } from '../core/policy.ts';
import type { OwnServices } from '../server/own-tools.ts';
import { defineTool, type Tool } from '../core/tool.ts';
import { planCallOf, combinePlans, runPlannedCalls } from '../machine/actions/acts.ts';

const params = z.strictObject({
  action: z.string().min(1).max(100).describe('As find_actions names it: git_blame'),
  arguments: z.record(z.string(), z.unknown()).default({}).describe('Of the action: {"path": "a.ts"}'),
});

const withBackground = params.extend({
  background: z.boolean().default(false).describe('Answers once it has begun: servers, watchers'),
});

/** Runs an action of the catalogue that only looks, so that what hosts are told about this tool is true. */
export const runReadAction = (services: OwnServices): Tool =>
  runner('run_read_action', services, {
    params,
    title: 'Run a reading action',
    description: 'Runs an action that find_actions named and that changes nothing.',
    effects: ['read', 'network'],
  });

/** Runs any action of the catalogue; what it may do is decided, and asked, about that action. */
export const runAction = (services: OwnServices): Tool =>
  runner('run_action', services, {
    params: withBackground,
    title: 'Run an action',
    description: 'Runs any action that find_actions named.',
    effects: ['write', 'execute', 'network', 'publish', 'destroy'],
  });

function runner(
  name: string,
  { load, offered }: OwnServices,
  facts: Pick<Tool, 'title' | 'description' | 'effects'> & {
    readonly params: typeof params | typeof withBackground;
  },
): Tool {
  return defineTool({
    name,
    program: 'toolcrib',
    ...facts,
    async plan({ action, arguments: given, ...more }, context) {
      // A built-in tool is called as itself before this; one that stands for another must not hide which.
      if (offered.find(action).action === undefined)
        throw new ToolcribError(
          'ARG_INVALID',
          `action: ${action} is no action of a program, or changes something.`,
          'Call it itself.',
        );
      const tool = await load(action);
      if (looksOnly(facts.effects) && !looksOnly(tool.effects))
        throw new ToolcribError(
          'ARG_INVALID',
          `action: ${action} can change something.`,
          'run_action runs it.',
        );
      const plan = combinePlans([await planCallOf(tool, given, context, undefined)]);
      const isWanted = 'background' in more && more.background === true;
      return { ...plan, background: isWanted || plan.background === true };
    },
    run: runPlannedCalls,
  });
}
