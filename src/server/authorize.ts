import { resolve } from 'node:path';
import { ToolcribError } from '../core/errors.ts';
import {
  asksEachTime,
  decide,
  grantsOf,
  reasonsFor,
  strictest,
  type TrustScope,
  type Verdict,
} from '../core/policy.ts';
import type { Plan, PlanContext, Tool } from '../core/tool.ts';
import type { AuditedCall } from '../machine/audit/audit.ts';
import { displayPath } from '../machine/paths/display-path.ts';
import { isInside } from '../machine/paths/inside.ts';
import { notingConsent } from '../machine/paths/protected-paths.ts';
import { realPath } from '../machine/paths/real-path.ts';
import type { Session } from '../machine/session.ts';
import type { Reply } from './approvals/ask.ts';
import { covers, questionOf, screenOf, type LastingAnswer, type Question } from './approvals/question.ts';
import { changedError, deniedError, refusedError, unansweredError } from './approvals/refusals.ts';
import { log } from './log.ts';
import type { Request } from './request.ts';

/** The record of a call, while it is made. */
export type CallRecord = { -readonly [key in keyof AuditedCall['decided']]: AuditedCall['decided'][key] };

/** A call whose arguments are right: its request, its tool's code, and the values that it takes. */
export interface CheckedRequest {
  readonly request: Request;
  readonly code: Tool;
  readonly values: unknown;
}

/** A plan, and the verdict on it. */
export interface DecidedPlan {
  readonly plan: Plan;
  readonly verdict: Verdict;
  /** For the answer: the person's words that could not be kept. */
  readonly note?: string | undefined;
}

/** The client asks, and makes the call again. */
export type Pending = Extract<Reply, { kind: 'pending' }>;

/**
 * The plan that may be run, a person having been asked if that must be. Throws EFFECT_DENIED, NEEDS_CONFIRM,
 * NOT_CONFIRMED, and what planning throws.
 */
export async function authorize(
  call: CheckedRequest,
  session: Session,
  record: CallRecord,
): Promise<DecidedPlan | Pending> {
  const { tool, ask } = call.request;
  const decided = await planAndDecide(call, session, false);
  const { plan, verdict } = decided;
  const act = plan.tool ?? tool.name;
  record.folder = plan.folder;
  record.decision = 'denied';
  if (verdict.decision !== 'ask' && verdict.setting !== undefined) record.setting = verdict.setting;
  if (verdict.decision === 'deny') throw deniedError(act, plan, verdict);
  if (verdict.decision === 'allow') {
    record.decision = verdict.unasked ? 'unasked' : 'allow';
    return decided;
  }
  const before = await planQuestion(call, session);
  const reply = await ask(before.question);
  if (reply.kind === 'pending') return reply;
  record.decision = outcomeOf(reply);
  if (reply.kind === 'nothing') throw unansweredError(act, before.plan, before.verdict, reply.why);
  if (reply.kind === 'no') throw refusedError(act);
  // Long enough to change what was agreed to.
  const now = await planQuestion(call, session);
  if (!covers(before.question.about, now.question.about)) throw changedError(act);
  return { ...now, note: await keep(reply.keep, now, call.request, session) };
}

/**
 * The question as it is now: about the act alone when there is no reason any more. Throws when it is denied.
 */
async function planQuestion(
  call: CheckedRequest,
  session: Session,
): Promise<DecidedPlan & { readonly question: Question }> {
  const decided = await planAndDecide(call, session, true);
  const { plan, verdict } = decided;
  if (verdict.decision === 'deny') throw changedError(call.request.tool.name);
  const screen = screenOf(call.request.clientInfo?.name);
  return { ...decided, question: questionOf(plan, verdict, screen) };
}

/**
 * Plans a call, and decides about it. Changes nothing, and asks nobody. `preview`: somebody will read the
 * plan.
 */
export async function planAndDecide(
  { request, code, values }: CheckedRequest,
  session: Session,
  preview: boolean,
): Promise<DecidedPlan> {
  const { workspace, settings, client, signal } = request;
  const { budgets, rules } = settings;
  const trust = await session.trust();
  const mendable = settings.unreadable === undefined ? [] : workspace.roots;
  const noting = notingConsent(mendable);
  const trusts = (folder: string) => trust.isTrusted(folder);
  const gate = workspace.consenting(noting.consent);
  const context: PlanContext = { workspace: gate, client, signal, budgets, rules, preview, trusts };
  const planned = await code.plan(values, context);
  const plan: Plan = { ...planned, protects: noting.protects };
  const verdicts: Verdict[] = [];
  const untrusted = new Set<string>();
  for (const part of plan.parts ?? [plan]) {
    const places = part.trust === undefined ? [] : await untrustedPlaces(part, workspace.roots, trusts);
    for (const place of places) untrusted.add(place);
    verdicts.push(await decidePart(part, plan, places.length === 0, request, session));
  }
  const verdict = strictest(verdicts);
  const isAboutTrust = reasonsFor(verdict).some(({ because }) => because === 'trust');
  if (!isAboutTrust) return { plan, verdict };
  const scopes = await trustScopes([...untrusted], session, workspace.roots);
  // A question is about one.
  if (scopes.length > 1 && verdict.decision === 'ask') throw severalFolders(scopes);
  const [trustScope, other] = scopes;
  return { plan, verdict: other === undefined && trustScope ? { ...verdict, trustScope } : verdict };
}

/** The verdict on one of the acts of a call. */
async function decidePart(
  part: Plan,
  { protects = [] }: Plan,
  trusted: boolean,
  { tool, settings, workspace }: Request,
  session: Session,
): Promise<Verdict> {
  const { folder, grant, effects } = part;
  const acting = part.tool === undefined ? tool : session.tools.find(part.tool);
  if (trusted && part.trust !== undefined) session.needsTrusted(folder, workspace);
  const trust = await session.trust();
  const always =
    grant !== undefined && asksEachTime(part) && (await trust.always.has(folder, { ...grant, effects }));
  const act = {
    ...part,
    protects,
    tools: [tool.name, acting.name],
    toolset: acting.inEveryToolset ? undefined : acting.program,
  };
  return decide(act, settings, { trusted, always });
}

/**
 * The places that are not trusted, of the folder of an act and what it names inside the roots: code of
 * another repository is run from there.
 */
async function untrustedPlaces(
  { folder, paths }: Plan,
  roots: readonly string[],
  trusts: (path: string) => Promise<boolean>,
): Promise<string[]> {
  const named = paths.map((path) => realPath(resolve(folder, path)));
  const inside = named.filter((path) => roots.some((root) => isInside(path, root)));
  const untrusted: string[] = [];
  for (const place of new Set([folder, ...inside])) if (!(await trusts(place))) untrusted.push(place);
  return untrusted;
}

/** The folders that a yes would trust, each once. */
async function trustScopes(
  untrusted: readonly string[],
  session: Session,
  roots: readonly string[],
): Promise<TrustScope[]> {
  const trust = await session.trust();
  const scopes = await Promise.all(untrusted.map((place) => trust.subjectOf(place, roots)));
  return [...new Map(scopes.map((scope) => [scope.folder, scope])).values()];
}

function severalFolders(scopes: readonly TrustScope[]): ToolcribError {
  const names = scopes.map(({ folder }) => displayPath(folder)).join(', ');
  return new ToolcribError(
    'NEEDS_CONFIRM',
    `Several folders are concerned that are not trusted: ${names}.`,
    'A person is asked about one at a time: work in one of them alone first, with it as cwd.',
  );
}

/** For the record: an answer that lasts is told apart from one for this time. */
function outcomeOf(reply: Exclude<Reply, Pending>): NonNullable<CallRecord['decision']> {
  if (reply.kind === 'nothing') return 'unanswered';
  if (reply.kind === 'no') return 'asked:no';
  return reply.keep.includes('always') ? 'asked:always' : 'asked:yes';
}

/**
 * Keeps an answer that lasts. One that cannot be kept is said; it is no reason to refuse what was agreed to.
 */
async function keep(
  kept: readonly LastingAnswer[],
  { plan, verdict }: DecidedPlan,
  { workspace }: Request,
  session: Session,
): Promise<string | undefined> {
  if (kept.length === 0) return undefined;
  const trust = await session.trust();
  const { trustScope } = verdict;
  try {
    if (kept.includes('trust') && trustScope) {
      await trust.trust(trustScope.folder);
      session.needsTrusted(plan.folder, workspace);
    }
    if (!kept.includes('always')) return undefined;
    const { folder } = trustScope ?? (await trust.subjectOf(plan.folder, workspace.roots));
    for (const grant of grantsOf(plan) ?? [])
      if (!(await trust.always.has(folder, grant))) await trust.always.add(folder, grant);
    return undefined;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    log(`the answer could not be kept: ${why}`);
    return `The person's answer holds for this time only, as it could not be kept: ${why}`;
  }
}
