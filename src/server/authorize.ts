import { resolve } from 'node:path';
import { ToolcribError } from '../core/errors.ts';
import { asksEachTime, decide, grantsOf, strictest, type Reason, type Verdict } from '../core/policy.ts';
import type { Settings } from '../core/settings.ts';
import type { Plan, PlanContext, Tool } from '../core/tool.ts';
import type { AuditedCall } from '../machine/audit/audit.ts';
import { notingConsent } from '../machine/paths/protected-paths.ts';
import { isInside } from '../machine/paths/inside.ts';
import { realPath } from '../machine/paths/real-path.ts';
import { displayPath } from '../machine/paths/display-path.ts';
import type { RootedWorkspace } from '../machine/paths/workspace.ts';
import type { Trust, TrustScope } from '../machine/trust/trust.ts';
import type { Reply, AskPerson } from './approvals/ask.ts';
import type { House } from './house.ts';
import { log } from './log.ts';
import { builtInFacts } from './own-facts.ts';
import type { ToolDefinition } from './published.ts';
import {
  covers,
  questionOf,
  type LastingAnswer,
  screenOf,
  type Asked as AskedAbout,
  type Question,
} from './approvals/question.ts';
import { changedError, deniedError, refused, unansweredError } from './approvals/refusals.ts';

/** Who calls, from where, and how they are reached. */
export interface Caller {
  readonly workspace: RootedWorkspace;
  /** What holds in these roots. */
  readonly settings: Settings;
  readonly signal: AbortSignal;
  progress(message: string): void;
  /** Whose call it is; the same for all calls of one connection. */
  readonly client: string;
  /** How that client calls itself. */
  readonly clientInfo?: { readonly name: string; readonly version: string } | undefined;
  readonly ask: AskPerson;
}

/** One call whose arguments are right. */
export interface CheckedCall {
  readonly published: ToolDefinition;
  readonly tool: Tool;
  readonly values: unknown;
  readonly caller: Caller;
}

/** For the record of a call. */
export type Decided = { -readonly [key in keyof AuditedCall['decided']]: AuditedCall['decided'][key] };

/** A plan that was decided about. */
export interface Considered extends Omit<AskedAbout, 'reasons'> {
  readonly verdict: Verdict;
  /** For the answer: what a person said that could not be kept. */
  readonly note?: string | undefined;
}

/** The same, with what a person is asked about it. */
interface Asked extends Considered, AskedAbout {
  readonly question: Question;
}

/** The client asks, and makes the call again. */
export type Pending = Extract<Reply, { kind: 'pending' }>;

/**
 * What may be done, having asked a person if that must be. Throws EFFECT_DENIED, NEEDS_CONFIRM, NOT_CONFIRMED, and what
 * planning throws.
 */
export async function authorize(
  call: CheckedCall,
  house: House,
  decided: Decided,
): Promise<Considered | Pending> {
  const { name } = call.published;
  const considered = await planAndDecide(call, house, false);
  const { plan, verdict } = considered;
  const act = plan.tool ?? name;
  decided.folder = plan.folder;
  decided.decision = 'denied';
  if (verdict.decision !== 'ask' && verdict.setting !== undefined) decided.setting = verdict.setting;
  if (verdict.decision === 'deny') throw deniedError(act, verdict, considered);
  if (verdict.decision === 'allow') {
    decided.decision = verdict.unasked ? 'unasked' : 'allow';
    return considered;
  }
  const before = await asked(call, house);
  const answer = await call.caller.ask(before.question);
  if (answer.kind === 'pending') return answer;
  decided.decision = outcomeOf(answer);
  if (answer.kind === 'nothing') throw unansweredError(act, before, answer.why);
  if (answer.kind === 'no') throw refused(act);
  // Long enough to change what was agreed to.
  const now = await asked(call, house);
  if (!covers(before.question.about, now.question.about)) throw changedError(act);
  return { ...now, note: await keep(answer.keep, now, call, house) };
}

/** What a person would be asked now: about the act alone when there is no reason any more. Throws when it is denied. */
async function asked(call: CheckedCall, house: House): Promise<Asked> {
  const considered = await planAndDecide(call, house, true);
  const { verdict } = considered;
  if (verdict.decision === 'deny') throw changedError(call.published.name);
  const reasons = verdict.decision === 'ask' ? verdict.reasons : [];
  const screen = screenOf(call.caller.clientInfo?.name);
  return { ...considered, reasons, question: questionOf({ ...considered, reasons }, screen) };
}

/** Plans a call, and decides about it. Changes nothing, and asks nobody. `preview`: somebody will read the plan. */
export async function planAndDecide(
  { published, tool, values, caller }: CheckedCall,
  house: House,
  preview: boolean,
): Promise<Considered> {
  const { find, trust } = house;
  const { workspace, settings, client, signal } = caller;
  const { budgets, rules } = settings;
  const mendable = settings.unreadable === undefined ? [] : workspace.roots;
  const noting = notingConsent(mendable);
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
        toolset: builtInFacts(does.name).companion ? undefined : does.program,
      };
      const { folder, grant, effects } = part;
      const untrusted = part.trust === undefined ? [] : await untrustedOf(part, workspace.roots, trusts);
      const trusted = untrusted.length === 0;
      if (trusted && part.trust !== undefined) house.trusted(folder, workspace);
      const always =
        grant !== undefined &&
        asksEachTime(part) &&
        (await (await trust()).always.has(folder, { ...grant, effects }));
      return { untrusted, verdict: decide(act, settings, { trusted, always }) };
    }),
  );
  const verdict = strictest(decided.map((one) => one.verdict));
  const untrusted = [...new Set(decided.flatMap((one) => one.untrusted))];
  const asksTrust = reasonsOf(verdict).some(({ because }) => because === 'trust');
  const subjects = asksTrust ? await subjectsOf(untrusted, await trust(), workspace.roots) : [];
  // A question is about one.
  if (subjects.length > 1 && verdict.decision === 'ask') throw severalFolders(subjects);
  const subject = subjects.length === 1 ? subjects[0] : undefined;
  return { plan, protects, verdict, subject };
}

/**
 * Of the folder, and of what it names inside the roots, what is not trusted: code of another repository is run from
 * there.
 */
async function untrustedOf(
  { folder, paths }: Plan,
  roots: readonly string[],
  trusts: (path: string) => Promise<boolean>,
): Promise<string[]> {
  const named = paths.map((path) => realPath(resolve(folder, path)));
  const places = [folder, ...new Set(named.filter((path) => roots.some((root) => isInside(path, root))))];
  const trusted = await Promise.all(places.map(trusts));
  return places.filter((_place, at) => !trusted[at]);
}

/** The folders that a yes would trust, each once. */
async function subjectsOf(
  untrusted: readonly string[],
  trust: Trust,
  roots: readonly string[],
): Promise<TrustScope[]> {
  const subjects = await Promise.all(untrusted.map((place) => trust.subjectOf(place, roots)));
  return [...new Map(subjects.map((subject) => [subject.folder, subject])).values()];
}

function severalFolders(subjects: readonly TrustScope[]): ToolcribError {
  const names = subjects.map(({ folder }) => displayPath(folder)).join(', ');
  return new ToolcribError(
    'NEEDS_CONFIRM',
    `Several folders are concerned that are not trusted: ${names}.`,
    'A person is asked about one at a time: work in one of them alone first, with it as cwd.',
  );
}

/** The reasons for which a person was to be asked, whoever asks. */
const reasonsOf = (verdict: Verdict): readonly Reason[] =>
  verdict.decision === 'ask' ? verdict.reasons : (verdict.unasked ?? []);

/** For the record: what lasts is told apart from what was said for this time. */
function outcomeOf(answer: Exclude<Reply, { kind: 'pending' }>): NonNullable<Decided['decision']> {
  if (answer.kind === 'nothing') return 'unanswered';
  if (answer.kind === 'no') return 'asked:no';
  return answer.keep.includes('always') ? 'asked:always' : 'asked:yes';
}

/** Keeps what was said for longer. What cannot be kept is said; it is no reason to refuse what was agreed to. */
async function keep(
  kept: readonly LastingAnswer[],
  { plan, subject }: Asked,
  { caller: { workspace } }: CheckedCall,
  house: House,
): Promise<string | undefined> {
  if (kept.length === 0) return undefined;
  const trust = await house.trust();
  try {
    if (kept.includes('trust') && subject) {
      await trust.trust(subject.folder);
      house.trusted(plan.folder, workspace);
    }
    if (!kept.includes('always')) return undefined;
    const { folder } = subject ?? (await trust.subjectOf(plan.folder, workspace.roots));
    for (const grant of grantsOf(plan) ?? [])
      if (!(await trust.always.has(folder, grant))) await trust.always.add(folder, grant);
    return undefined;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    log(`the answer could not be kept: ${why}`);
    return `The person's answer holds for this time only, as it could not be kept: ${why}`;
  }
}
