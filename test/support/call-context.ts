import { ToolcribError } from '../../src/core/errors.ts';
import { usualBudgets } from '../../src/core/settings.ts';
import type { CallContext } from '../../src/core/tool.ts';
import { openWorkspace } from '../../src/machine/paths/workspace.ts';

/** What a tool is called with: nobody can be asked, what need not be asked is permitted, and nothing is kept. */
export async function callContext(
  roots: readonly string[],
  rest: Partial<CallContext> = {},
): Promise<CallContext> {
  return {
    workspace: await openWorkspace(roots),
    signal: new AbortController().signal,
    progress: () => {},
    client: 'test',
    budgets: usualBudgets,
    trusts: () => Promise.resolve(false),
    permit: ({ asks }) =>
      asks === undefined
        ? Promise.resolve()
        : Promise.reject(new ToolcribError('NEEDS_CONFIRM', `whenUnasked.${asks} is "deny".`)),
    keepOutput: () => ({ handle: 'out', add: () => {}, end: () => {} }),
    ...rest,
  };
}
