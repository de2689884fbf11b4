import { createHash } from 'node:crypto';
import { checkParams, refuseDeep } from '../core/check-params.ts';
import { ToolcribError } from '../core/errors.ts';
import type { Verdict } from '../core/policy.ts';
import type { CallContext, Plan, Tool, ToolResult } from '../core/tool.ts';
import type { Answer as JobAnswer, Jobs, Waiter } from '../machine/jobs/jobs.ts';
import type { OutputStore } from '../machine/output-store/output-store.ts';
import { consentTo } from '../machine/paths/consent.ts';
import { presentable } from '../machine/presentable.ts';
import { maskResult } from '../machine/secrets/mask.ts';
import type { CallServices } from './call-services.ts';
import type { Caller } from './caller.ts';
import { consider, type CheckedCall, type Considered, type Deciding } from './consider.ts';
import { startingTools, waitingTools } from './special-tools.ts';
import { permission, type Decided, type Pause, type Permission } from './permission.ts';
import type { PublishedTool } from './published.ts';
import { questionOf, type Question } from './question.ts';
import { runningResult } from './tools/job-text.ts';

/** What a call answers: a result, or what the client has to do first. */
export type Called =
  | { readonly kind: 'done'; readonly result: ToolResult }
  | Extract<Permission, { kind: 'later' }>;

/** A plan, what is decided about it, and what a person would be asked; or why there is none. */
export type Planned =
  | { readonly plan: Plan; readonly verdict: Verdict; readonly question: Question | undefined }
  | { readonly refusal: ToolResult };

/** How a call is made: admitted, planned, decided, asked about, run, told without secrets, written down. */
export interface Calls {
  readonly jobs: Jobs;
  readonly outputs: OutputStore;
  /** Never rejects but for a bug: what is the caller's to mend comes as a result with isError. */
  call(tool: PublishedTool, params: unknown, caller: Caller): Promise<Called>;
  /** What a call would do, and what would be decided about it; nothing is done, and nobody asked. */
  plan(tool: PublishedTool, params: unknown, caller: Caller): Promise<Planned>;
  /** Ends all jobs and forgets all output. */
  end(): Promise<void>;
}

/** What all calls of one server have in common. */
interface House extends CallServices, Deciding {
  load(tool: PublishedTool): Promise<Tool>;
}

/** The calls of one server. */
export function createCalls(house: House): Calls {
  const { jobs, outputs, mask, recordCall } = house;
  return {
    jobs,
    outputs,
    async call(tool, params, caller) {
      const startedAt = performance.now();
      const decided: Decided = {};
      const { client, clientInfo, workspace } = caller;
      const called = await makeCall(house, tool, params, caller, decided).catch(failed);
      if (called.kind === 'later') return called;
      const result = maskResult(called.result, mask);
      const durationMs = performance.now() - startedAt;
      recordCall({ client, clientInfo, tool, params, roots: workspace.roots, decided, result, durationMs });
      return { kind: 'done', result };
    },
    async plan(published, params, caller) {
      try {
        const call = await checked(house, published, params, caller);
        const considered = await consider(call, house, true);
        const { plan, verdict } = considered;
        const question =
          verdict.decision === 'ask' ? questionOf({ ...considered, reasons: verdict.reasons }) : undefined;
        return { plan, verdict, question };
      } catch (error) {
        return { refusal: maskResult(failed(error).result, mask) };
      }
    },
    async end() {
      await jobs.endAll();
      outputs.close();
    },
  };
}

async function makeCall(
  house: House,
  published: PublishedTool,
  params: unknown,
  caller: Caller,
  decided: Decided,
): Promise<Called> {
  refuseDeep(params);
  const enter = async () => (waitingTools.has(published.name) ? undefined : house.admit(caller.signal));
  let leave = await enter();
  const pause: Pause = async (wait) => {
    leave?.();
    leave = undefined;
    const answer = await wait();
    leave = await enter();
    return answer;
  };
  try {
    // What is no job is not joined by the same call.
    const key = isJob(published) ? keyOf(published, params, caller) : undefined;
    const joined = key === undefined ? undefined : await house.jobs.join(key, waiterOf(house, caller));
    if (joined) {
      decided.decision = 'joined';
      return { kind: 'done', result: resultOf(joined, house) };
    }
    const call = await checked(house, published, params, caller);
    const permitted = await permission(call, house, decided, pause);
    if (permitted.kind === 'later') return permitted;
    return { kind: 'done', result: await run(house, call, permitted.considered, key) };
  } finally {
    leave?.();
  }
}

async function checked(
  { load }: House,
  published: PublishedTool,
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
): Promise<ToolResult> {
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
  const answer = await house.jobs.run(job, (ofJob) => tool.run(plan, ofJob), context);
  return resultOf(answer, house);
}

const waiterOf = ({ mask }: House, { client, signal, settings, progress }: Caller): Waiter => ({
  client,
  signal,
  budgets: settings.budgets,
  progress: (message) => progress(mask(message)),
});

const resultOf = (answer: JobAnswer, { outputs }: House): ToolResult =>
  answer.kind === 'done' ? answer.result : runningResult(answer, outputs);

/** It starts a program that may take longer than a client waits; what only looks is ended before that. */
const isJob = ({ name, action, effects }: PublishedTool): boolean =>
  (action !== undefined && effects.some((effect) => effect !== 'read')) || startingTools.has(name);

const keyOf = ({ name }: PublishedTool, params: unknown, { workspace }: Caller): string =>
  createHash('sha256')
    .update(JSON.stringify([name, params, workspace.roots]))
    .digest('base64');

function failed(error: unknown): Extract<Called, { kind: 'done' }> {
  if (!(error instanceof ToolcribError)) throw error;
  // It may name what a project has in it, or repeat what a program said.
  const text = presentable(`${error.code}: ${error.message}`);
  return { kind: 'done', result: { isError: true, content: [{ type: 'text', text }] } };
}
