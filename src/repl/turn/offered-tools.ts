import type { Agent } from './agent.ts';
import { isDeniedWhole } from '../approval/decide.ts';
import type { Tool } from '../toolbox/tool.ts';

/**
 * The tools the model is told of: in plan mode only those that read, whatever rules allow; never one that a rule
 * takes away as a whole. Sorted by name, so that prompt caches hold.
 */
export function offeredTools(agent: Pick<Agent, 'tools' | 'mode' | 'rules'>): readonly Tool[] {
  const rules = agent.rules();
  const isPlan = agent.mode === 'plan';
  return agent
    .tools()
    .filter(
      (tool) =>
        !isDeniedWhole(tool, rules) &&
        (isPlan ? tool.annotations.readOnlyHint === true : tool.tool !== 'exit_plan' || !tool.own),
    );
}
