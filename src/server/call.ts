import { createHash } from 'node:crypto';
import { checkParams, refuseDeep } from '../core/check-params.ts';
import { ToolcribError } from '../core/errors.ts';
import type { Verdict } from '../core/policy.ts';
import type { CallContext, Plan, Result } from '../core/tool.ts';
import type { JobAnswer, Waiter } from '../machine/jobs/jobs.ts';
import { consentTo } from '../machine/paths/protected-paths.ts';
import { sanitize } from '../machine/sanitize.ts';
import { maskResult } from '../machine/secrets/mask.ts';
import type { AskPerson } from './approvals/ask.ts';
import type { House } from './house.ts';
import { builtInFacts } from './own-facts.ts';
import {
  planAndDecide,
  authorize,
  type Caller,
  type CheckedCall,
  type Decided,
  type Considered,
  type Pending,
} from './authorize.ts';
import type { ToolDefinition } from './published.ts';
import { questionOf, type Question } from './approvals/question.ts';
import { runningResult } from '../tools/output/job-text.ts';

/** What a call answers: a result, or what the client has to do first. */
export type Called = Result | Pending;

/** A plan, what is decided about it, and what a person would be asked. */
export interface Planned {
  readonly plan: Plan;
  readonly verdict: Verdict;
  readonly question: Question | undefined;
}

/**
 * Makes a call: admitted, planned, decided, asked about, run, told without secrets, written down. Never rejects but for
 * a bug: what is the caller's to mend comes as a result with isError.
 */
export async function call(
  house: House,
  tool: ToolDefinition,
  params: unknown,
  caller: Caller,
): Promise<Called> {
  const startedAt = performance.now();
  const decided: Decided = {};
  const enter = async () => (builtInFacts(tool.name).waits ? undefined : house.admit(caller.signal));
  const make = async () => {
    refuseDeep(params);
    let leave = await enter();
    // What a person thinks about gives up its place among the calls that are made at a time, and none waits for it.
    const ask: AskPerson = async (question) => {
      house.writing.delete(made);
      leave?.();
      leave = undefined;
      const answer = await caller.ask(question);
      leave = await enter();
      return answer;
    };
    return makeCall(house, tool, params, { ...caller, ask }, decided).finally(() => leave?.());
  };
  // Several calls of one turn come at once, in their order: a test is run on the files that were edited before it.
  const earlier = [...house.writing];
  const made: Promise<Called> = (earlier.length > 0 ? Promise.allSettled(earlier).then(make) : make()).catch(
    failed,
  );
  const kept = [
    house.pending,
    ...(tool.effects.every((effect) => effect === 'write') ? [house.writing] : []),
  ];
  for (const calls of kept) calls.add(made);
  const called = await made.finally(() => kept.forEach((calls) => calls.delete(made)));
  if ('kind' in called) return called;
  const result = maskResult(called, house.mask);
  const durationMs = performance.now() - startedAt;
  const { client, clientInfo, workspace } = caller;
  house.recordCall({ client, clientInfo, tool, params, roots: workspace.roots, decided, result, durationMs });
  return result;
}

/** What a call would do, and what would be decided about it, or why nothing; nothing is done, and nobody asked. */
export async function plan(
  house: House,
  published: ToolDefinition,
  params: unknown,
  caller: Caller,
): Promise<Planned | Result> {
  try {
    const considered = await planAndDecide(await checked(house, published, params, caller), house, true);
    const { verdict } = considered;
    const isAsked = verdict.decision === 'ask';
    const question = isAsked ? questionOf({ ...considered, reasons: verdict.reasons }) : undefined;
    return { plan: considered.plan, verdict, question };
  } catch (error) {
    return maskResult(failed(error), house.mask);
  }
}

async function makeCall(
  house: House,
  published: ToolDefinition,
  params: unknown,
  caller: Caller,
  decided: Decided,
): Promise<Called> {
  // What is no job is not joined by the same call.
  const key = isJob(published) ? keyOf(published, params, caller) : undefined;
  const joined = key === undefined ? undefined : await house.jobs.join(key, waiterOf(house, caller));
  if (joined) {
    decided.decision = 'joined';
    return resultOf(joined, house);
  }
  const call = await checked(house, published, params, caller);
  const permitted = await authorize(call, house, decided);
  if ('kind' in permitted) return permitted;
  const result = await run(house, call, permitted, key);
  const { note } = permitted;
  return note === undefined
    ? result
    : { ...result, content: [...result.content, { type: 'text', text: note }] };
}

async function checked(
  { load }: House,
  published: ToolDefinition,
  params: unknown,
  caller: Caller,
): Promise<CheckedCall> {
  refuseDeep(params);
  const tool = await load(published);
  return { published, tool, values: checkParams(tool.params, params), caller };
}

/** Does what was planned, as a job where it may take longer than a client waits. */
async function run(
  house: House,
  { published, tool, caller }: CheckedCall,
  { plan, protects }: Considered,
  key: string | undefined,
): Promise<Result> {
  const context: CallContext = {
    ...waiterOf(house, caller),
    workspace: caller.workspace.consenting(consentTo(protects)),
    rules: caller.settings.rules,
    preview: false,
    trusts: async (folder) => (await house.trust()).isTrusted(folder),
    keepOutput: (command, _folder, handle) => house.outputs.open(caller.client, command, handle),
  };
  if (key === undefined) return tool.run(plan, context);
  const isBackground = plan.background ?? false;
  const job = { key, tool: plan.tool ?? published.name, title: published.title, isBackground };
  return resultOf(await house.jobs.run(job, (ofJob) => tool.run(plan, ofJob), context), house);
}

const waiterOf = ({ mask }: House, { client, signal, settings, progress }: Caller): Waiter => ({
  client,
  signal,
  budgets: settings.budgets,
  progress: (message) => progress(mask(message)),
});

const resultOf = (answer: JobAnswer, { outputs }: House): Result =>
  answer.kind === 'done' ? answer.result : runningResult(answer, outputs);

/** It starts a program that may take longer than a client waits; what only looks is ended before that. */
const isJob = ({ name, action, effects }: ToolDefinition): boolean =>
  (action !== undefined && effects.some((effect) => effect !== 'read')) || builtInFacts(name).starts === true;

const keyOf = ({ name }: ToolDefinition, params: unknown, { workspace }: Caller): string =>
  createHash('sha256')
    .update(JSON.stringify([name, params, workspace.roots]))
    .digest('base64');

/** An error that is the caller's to mend, as a result. Throws all others. */
export function failed(error: unknown): Result {
  if (!(error instanceof ToolcribError)) throw error;
  // It may name what a project has in it, or repeat what a program said.
  const text = sanitize(`${error.code}: ${error.message}`);
  return { isError: true, content: [{ type: 'text', text }] };
}
