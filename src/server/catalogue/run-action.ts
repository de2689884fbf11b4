import * as z from 'zod';
import { checkParams } from '../../core/check-params.ts';
import { ToolcribError } from '../../core/errors.ts';
import { looksOnly } from '../../core/policy.ts';
import type { Offered } from '../offered.ts';
import { ownFacts } from '../own-facts.ts';
import { defineTool, type Plan, type Tool } from '../../core/tool.ts';

export interface RunActionServices {
  /** A tool by its name. Throws UNKNOWN_TOOL, naming what is near. */
  load(name: string): Promise<Tool>;
  readonly catalogue: { readonly offered: Pick<Offered, 'find'> };
}

interface Chosen {
  readonly tool: Tool;
  readonly plan: Plan;
}

const params = z.strictObject({
  action: z.string().min(1).max(100).describe('As find_actions names it: git_blame'),
  arguments: z.record(z.string(), z.unknown()).default({}).describe('Of the action: {"path": "a.ts"}'),
});

const withBackground = params.extend({
  background: z.boolean().default(false).describe('Answers once it has begun: servers, watchers'),
});

/** Runs an action of the catalogue that only looks, so that what hosts are told about this tool is true. */
export const runReadAction = (services: RunActionServices): Tool =>
  runner('run_read_action', services, {
    params,
    title: 'Run a reading action',
    description: 'Runs an action that find_actions named and that changes nothing.',
    effects: ['read', 'network'],
  });

/** Runs any action of the catalogue; what it may do is decided, and asked, about that action. */
export const runAction = (services: RunActionServices): Tool =>
  runner('run_action', services, {
    params: withBackground,
    title: 'Run an action',
    description: 'Runs any action that find_actions named.',
    effects: ['write', 'execute', 'network', 'publish', 'destroy'],
  });

function runner(
  name: string,
  { load, catalogue }: RunActionServices,
  facts: Pick<Tool, 'title' | 'description' | 'effects'> & {
    readonly params: typeof params | typeof withBackground;
  },
): Tool {
  return defineTool({
    name,
    program: 'toolcrib',
    ...facts,
    async plan({ action, arguments: given, ...more }, context): Promise<Plan<Chosen>> {
      // What is always listed can be called itself, and one that stands for another must not hide which.
      if (catalogue.offered.find(action).action === undefined && !ownFacts(action).unlisted)
        throw new ToolcribError(
          'ARG_INVALID',
          `action: ${action} is no action of a program.`,
          'Call it itself.',
        );
      const tool = await load(action);
      if (looksOnly(facts.effects) && !looksOnly(tool.effects))
        throw new ToolcribError(
          'ARG_INVALID',
          `action: ${action} can change something.`,
          'run_action runs it.',
        );
      const plan = await tool.plan(checkParams(tool.params, given), context);
      const background = 'background' in more && more.background === true;
      return { ...plan, tool: action, background, work: { tool, plan } };
    },
    run: ({ work: { tool, plan } }, context) => tool.run(plan, context),
  });
}
