import { resolve } from 'node:path';
import { ToolcribError } from '../core/errors.ts';
import { asksEachTime, decide, strictest, type Verdict } from '../core/policy.ts';
import type { Plan, PlanContext, Tool, Workspace } from '../core/tool.ts';
import { notingConsent, type Protected } from '../machine/paths/consent.ts';
import { isInside } from '../machine/paths/inside.ts';
import { realPath } from '../machine/paths/real-path.ts';
import { shownPath } from '../machine/paths/shown-path.ts';
import type { Trust, TrustSubject } from '../machine/trust/trust.ts';
import type { Caller } from './caller.ts';
import { companions } from './special-tools.ts';
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
  /** Told of a folder that a person trusts, when a call there needs it. */
  trusted(folder: string, workspace: Workspace): void;
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
  { find, trust, trusted: isTrusted }: Deciding,
  preview: boolean,
): Promise<Considered> {
  const { workspace, settings, client, signal } = caller;
  const { budgets, rules } = settings;
  const noting = notingConsent();
  const trusts = async (folder: string) => (await trust()).isTrusted(folder);
  const gate = workspace.consenting(noting.consent);
  const context: PlanContext = { workspace: gate, client, signal, budgets, rules, preview, trusts };
  const plan = await tool.plan(values, context);
  const { protects } = noting;
  const parts = plan.parts ?? [plan];
  const decided = await Promise.all(
    parts.map(async (part) => {
      const does = part.tool === undefined ? published : find(part.tool);
      const act = {
        ...part,
        protects,
        tools: [published.name, does.name],
        toolset: companions.has(does.name) ? undefined : does.program,
      };
      const { folder, lasting } = part;
      const untrusted = part.trust === undefined ? [] : await untrustedOf(part, workspace.roots, trusts);
      const trusted = untrusted.length === 0;
      if (trusted && part.trust !== undefined) isTrusted(folder, workspace);
      const always =
        lasting !== undefined && asksEachTime(part) && (await (await trust()).always.has(folder, lasting));
      return { untrusted, verdict: decide(act, settings, { trusted, always }) };
    }),
  );
  const verdict = strictest(decided.map((one) => one.verdict));
  const untrusted = [...new Set(decided.flatMap((one) => one.untrusted))];
  const asksTrust = verdict.decision === 'ask' && verdict.reasons.some(({ because }) => because === 'trust');
  const subject = asksTrust ? await subjectIn(untrusted, await trust(), workspace.roots) : undefined;
  return { plan, protects, verdict, subject };
}

/**
 * Of the folder, and of what it names inside the roots, what is not trusted: code of another repository is run from
 * there.
 */
async function untrustedOf(
  { folder, touches }: Plan,
  roots: readonly string[],
  trusts: (path: string) => Promise<boolean>,
): Promise<string[]> {
  const named = touches.map((path) => realPath(resolve(folder, path)));
  const places = [folder, ...new Set(named.filter((path) => roots.some((root) => isInside(path, root))))];
  const trusted = await Promise.all(places.map(trusts));
  return places.filter((_place, at) => !trusted[at]);
}

/** The one folder that a yes would trust. Throws NEEDS_CONFIRM where there are several: a question is about one. */
async function subjectIn(
  untrusted: readonly string[],
  trust: Trust,
  roots: readonly string[],
): Promise<TrustSubject | undefined> {
  const subjects = await Promise.all(untrusted.map((place) => trust.subjectOf(place, roots)));
  const folders = [...new Set(subjects.map(({ folder }) => folder))];
  if (folders.length > 1)
    throw new ToolcribError(
      'NEEDS_CONFIRM',
      `Several folders are concerned that are not trusted: ${folders.map(shownPath).join(', ')}.`,
      'A person is asked about one at a time: work in one of them alone first, with it as cwd.',
    );
  return subjects[0];
}
