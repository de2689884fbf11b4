import { stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { decide, type Verdict } from '../core/policy.ts';
import type { Plan, PlanContext, Tool } from '../core/tool.ts';
import { notingConsent, type Protected } from '../machine/paths/consent.ts';
import type { Trust, TrustSubject } from '../machine/trust/trust.ts';
import type { Caller } from './calls.ts';
import { companions } from './own-tools.ts';
import type { PublishedTool } from './published.ts';

/** One call whose arguments are right. */
export interface CheckedCall {
  readonly published: PublishedTool;
  readonly tool: Tool;
  readonly values: unknown;
  readonly caller: Caller;
}

/** What deciding about calls needs. */
export interface Deciding {
  /** Throws UNKNOWN_TOOL. */
  find(name: string): PublishedTool;
  /** Loaded when it is first asked. */
  trust(): Promise<Trust>;
}

/** A plan that was decided about. */
export interface Considered {
  readonly plan: Plan;
  /** What it writes although others run or obey it. */
  readonly protects: readonly Protected[];
  readonly verdict: Verdict;
  /** What a yes would trust; undefined when trust is not what is missing. */
  readonly subject: TrustSubject | undefined;
}

/** Plans a call, and decides about it. Changes nothing, and asks nobody. `preview`: somebody will read the plan. */
export async function consider(
  { published, tool, values, caller }: CheckedCall,
  { find, trust }: Deciding,
  preview: boolean,
): Promise<Considered> {
  const { workspace, settings, client, signal } = caller;
  const { budgets } = settings;
  const noting = notingConsent();
  const trusts = async (folder: string) => (await trust()).isTrusted(folder);
  const gate = workspace.consenting(noting.consent);
  const context: PlanContext = { workspace: gate, client, signal, budgets, preview, trusts };
  const plan = await tool.plan(values, context);
  const { protects } = noting;
  const does = plan.tool === undefined ? published : find(plan.tool);
  const act = {
    ...plan,
    protects,
    tools: [published.name, does.name],
    toolset: companions.has(does.name) ? undefined : does.program,
  };
  const { folder, lasting } = plan;
  const untrusted = plan.trust === undefined ? undefined : await firstUntrusted(plan, trusts);
  const always =
    lasting !== undefined && asksEachTime(plan) && (await (await trust()).always.has(folder, lasting));
  const verdict = decide(act, settings, { trusted: untrusted === undefined, always });
  const asksTrust = verdict.decision === 'ask' && verdict.reasons.some(({ because }) => because === 'trust');
  const subject = asksTrust
    ? await (await trust()).subjectOf(untrusted ?? folder, workspace.roots)
    : undefined;
  return { plan, protects, verdict, subject };
}

/** The first folder that it works in, or names something of, and that nobody trusts: below one can lie another's. */
async function firstUntrusted(
  { folder, touches }: Plan,
  trusts: (folder: string) => Promise<boolean>,
): Promise<string | undefined> {
  for (const path of [folder, ...touches.map((touched) => resolve(folder, touched))]) {
    const isFolder = await stat(path).then(
      (found) => found.isDirectory(),
      () => false,
    );
    const place = isFolder ? path : dirname(path);
    if (!(await trusts(place))) return place;
  }
  return undefined;
}

/** Whether trust in the folder is not all that there could be to ask. */
const asksEachTime = ({ asks, effects }: Plan): boolean =>
  asks !== undefined || effects.includes('destroy') || effects.includes('publish');
