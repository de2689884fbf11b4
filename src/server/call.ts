import { createHash } from 'node:crypto';
import { checkParams, refuseDeep } from '../core/check-params.ts';
import { ToolcribError } from '../core/errors.ts';
import type { ToolDefinition } from '../core/tool-definition.ts';
import type { CallContext, Plan, Result } from '../core/tool.ts';
import type { JobAnswer, Waiter } from '../machine/jobs/jobs.ts';
import { consentTo } from '../machine/paths/protected-paths.ts';
import { sanitize } from '../machine/sanitize.ts';
import { maskResult } from '../machine/secrets/mask.ts';
import type { Session } from '../machine/session.ts';
import { runningResult } from '../tools/output/job-text.ts';
import { questionOf, type Question } from './approvals/question.ts';
import { authorize, planAndDecide } from './authorize.ts';
import type { CallRecord, CheckedRequest, DecidedPlan, Pending } from './authorize.ts';
import type { Request } from './request.ts';

/**
 * Makes a call: admitted, planned, decided, asked about, run, told without secrets, written down. Never
 * rejects but for a bug: what is the caller's to mend comes as a result with isError.
 */
export async function call(session: Session, request: Request): Promise<Result | Pending> {
  const startedAt = performance.now();
  const record: CallRecord = {};
  const answer = await admitted(session, request, record);
  if ('kind' in answer) return answer;
  const result = maskResult(answer, session.mask);
  const durationMs = performance.now() - startedAt;
  const { tool, args, client, clientInfo, workspace } = request;
  const { roots } = workspace;
  session.recordCall({ client, clientInfo, tool, params: args, roots, decided: record, result, durationMs });
  return result;
}

/** A decided plan, and the question about it if there is one. */
export interface PlannedOnly extends DecidedPlan {
  readonly question: Question | undefined;
}

/** The plan of a call, the verdict, and the question if there is one, or a failure; nothing is done or asked.
 */
export async function planOnly(session: Session, request: Request): Promise<PlannedOnly | Result> {
  try {
    const decided = await planAndDecide(await checked(session, request), session, true);
    const { plan, verdict } = decided;
    return { ...decided, question: verdict.decision === 'ask' ? questionOf(plan, verdict) : undefined };
  } catch (error) {
    return maskResult(failed(error), session.mask);
  }
}

/** Has a call made in its turn, among those that may be made at a time. */
async function admitted(session: Session, request: Request, record: CallRecord): Promise<Result | Pending> {
  const { pending, writing } = session;
  const { tool } = request;
  // Several calls of one turn come at once, in their order: a test is run on the files that were edited
  // before it.
  const earlier = [...writing];
  const make = async () => {
    if (earlier.length > 0) await Promise.allSettled(earlier);
    refuseDeep(request.args);
    return inPlace(session, request, () => writing.delete(made), record);
  };
  const made: Promise<Result | Pending> = make().catch(failed);
  pending.add(made);
  if (tool.effects.every((effect) => effect === 'write')) writing.add(made);
  try {
    return await made;
  } finally {
    pending.delete(made);
    writing.delete(made);
  }
}

/** A call that a person thinks about gives up its place among those made at a time, and none waits for it. */
async function inPlace(
  session: Session,
  request: Request,
  letOthersGo: () => void,
  record: CallRecord,
): Promise<Result | Pending> {
  const enter = async () => (request.tool.onlyWaits ? undefined : session.admit(request.signal));
  let leave = await enter();
  const ask: Request['ask'] = async (question) => {
    letOthersGo();
    leave?.();
    leave = undefined;
    const reply = await request.ask(question);
    leave = await enter();
    return reply;
  };
  try {
    return await makeCall(session, { ...request, ask }, record);
  } finally {
    leave?.();
  }
}

async function makeCall(session: Session, request: Request, record: CallRecord): Promise<Result | Pending> {
  // What is no job is not joined by the same call.
  const key = canBeJob(request.tool) ? keyOf(request) : undefined;
  const joined = key === undefined ? undefined : await session.jobs.join(key, waiterOf(session, request));
  if (joined) {
    record.decision = 'joined';
    return resultOf(joined, session);
  }
  const checkedRequest = await checked(session, request);
  const decided = await authorize(checkedRequest, session, record);
  if ('kind' in decided) return decided;
  const result = await run(session, checkedRequest, decided.plan, key);
  const { note } = decided;
  return note === undefined
    ? result
    : { ...result, content: [...result.content, { type: 'text', text: note }] };
}

async function checked(session: Session, request: Request): Promise<CheckedRequest> {
  refuseDeep(request.args);
  const code = await session.load(request.tool);
  return { request, code, values: checkParams(code.params, request.args) };
}

/** Does what was planned, as a job where it may take longer than a client waits. */
async function run(
  session: Session,
  { request, code }: CheckedRequest,
  plan: Plan,
  key: string | undefined,
): Promise<Result> {
  const { tool, client, workspace, settings } = request;
  const trust = await session.trust();
  const context: CallContext = {
    ...waiterOf(session, request),
    workspace: workspace.consenting(consentTo(plan.protects ?? [])),
    rules: settings.rules,
    preview: false,
    trusts: (folder) => trust.isTrusted(folder),
    keepOutput: (command, _folder, handle) => session.outputs.open(client, command, handle),
  };
  if (key === undefined) return code.run(plan, context);
  const isBackground = plan.background ?? false;
  const job = { key, tool: plan.tool ?? tool.name, title: tool.title, isBackground };
  return resultOf(await session.jobs.run(job, (ofJob) => code.run(plan, ofJob), context), session);
}

const waiterOf = ({ mask }: Session, { client, signal, settings, progress }: Request): Waiter => ({
  client,
  signal,
  budgets: settings.budgets,
  progress: (message) => progress(mask(message)),
});

const resultOf = (answer: JobAnswer, { outputs }: Session): Result =>
  answer.kind === 'done' ? answer.result : runningResult(answer, outputs);

/**
 * True for a tool that starts a program which may take longer than a client waits; what only looks is ended
 * before.
 */
const canBeJob = ({ action, effects, startsPrograms }: ToolDefinition): boolean =>
  startsPrograms === true || (action !== undefined && effects.some((effect) => effect !== 'read'));

const keyOf = ({ tool, args, workspace }: Request): string =>
  createHash('sha256')
    .update(JSON.stringify([tool.name, args, workspace.roots]))
    .digest('base64');

/** An error that is the caller's to mend, as a result. Throws all others. */
export function failed(error: unknown): Result {
  if (!(error instanceof ToolcribError)) throw error;
  // It may name what a project has in it, or repeat what a program said.
  const text = sanitize(`${error.code}: ${error.message}`);
  return { isError: true, content: [{ type: 'text', text }] };
}
