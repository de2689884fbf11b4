import { checkParams } from '../../src/core/check-params.ts';
import { usualBudgets } from '../../src/core/settings.ts';
import type { CallContext, Tool, Result } from '../../src/core/tool.ts';
import { consentTo, notingConsent } from '../../src/machine/paths/protected-paths.ts';
import { openWorkspace, rooted } from '../../src/machine/paths/workspace.ts';

/** The context of a call: nobody trusts anything, and nothing is kept. */
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
    rules: [],
    preview: false,
    trusts: () => Promise.resolve(false),
    keepOutput: () => ({ handle: 'out', add: () => {}, end: () => {} }),
    ...rest,
  };
}

/** Plans a call and makes it, as a server does whose person agrees to what is protected, or does not. */
export async function planAndRun(
  tool: Tool,
  given: unknown,
  context: CallContext,
  { agrees = true } = {},
): Promise<Result> {
  const gate = rooted(context.workspace);
  const noting = notingConsent([]);
  const values = checkParams(tool.params, given);
  const plan = await tool.plan(values, { ...context, workspace: gate.consenting(noting.consent) });
  const workspace = gate.consenting(consentTo(agrees ? noting.protects : []));
  return tool.run(plan, { ...context, workspace });
}
