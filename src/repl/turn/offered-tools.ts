import type { Agent } from './agent.ts';
import { isDeniedWhole } from '../approval/decide.ts';
import type { Tool } from '../toolbox/tool.ts';

/**
 * The tools the model is told of: in plan mode only those that read, whatever rules allow; never one that a rule
 * takes away as a whole. Sorted by name, so that prompt caches hold.
 */
export function offeredTools({
  tools,
  mode,
  rules,
}: Pick<Agent, 'tools' | 'mode' | 'rules'>): readonly Tool[] {
  const standing = rules();
  return tools().filter(
    (tool) =>
      !isDeniedWhole(tool, standing) &&
      (mode === 'plan' ? tool.annotations.readOnlyHint === true : tool.tool !== 'exit_plan' || !tool.own),
  );
}
