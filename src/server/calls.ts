import { createHash } from 'node:crypto';
import { checkParams, refuseDeep } from '../core/check-params.ts';
import { ToolcribError } from '../core/errors.ts';
import { decide, type Verdict } from '../core/policy.ts';
import type { Settings } from '../core/settings.ts';
import type { CallContext, Plan, PlanContext, Tool, ToolResult } from '../core/tool.ts';
import type { AuditDecision } from '../machine/audit/audit.ts';
import type { Jobs, RunOptions } from '../machine/jobs/jobs.ts';
import type { OutputStore } from '../machine/output-store/output-store.ts';
import { consentTo, notingConsent, type Protected } from '../machine/paths/consent.ts';
import type { RootedWorkspace } from '../machine/paths/workspace.ts';
import { presentable } from '../machine/presentable.ts';
import { maskResult } from '../machine/secrets/mask.ts';
import type { TrustSubject } from '../machine/trust/trust.ts';
import type { Ask } from './ask.ts';
import type { CallServices } from './call-services.ts';
import { companions, startingTools, waitingTools } from './own-tools.ts';
import type { PublishedTool } from './published.ts';
import { questionOf, type Question } from './question.ts';
import { changedMeanwhile, refused, unanswered } from './refusals.ts';
import { stillRunning } from './still-running.ts';

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
  readonly ask: Ask;
}

/** What a call answers: a result, or what the client has to do first. */
export type Called =
  | { readonly kind: 'done'; readonly result: ToolResult }
  | {
      readonly kind: 'later';
      readonly result: Extract<Awaited<ReturnType<Ask>>, { said: 'later' }>['result'];
    };

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

/** A plan, what is decided about it, and what a person would be asked; or why there is none. */
export type Planned =
  | { readonly plan: Plan; readonly verdict: Verdict; readonly question: Question | undefined }
  | { readonly refusal: ToolResult };

/** A plan that was decided about. */
interface Considered {
  readonly plan: Plan;
  readonly protects: readonly Protected[];
  readonly verdict: Verdict;
  /** What a yes would trust; undefined when trust is not what is missing. */
  readonly subject: TrustSubject | undefined;
}

/** For the record of a call. */
interface Decided {
  decision?: AuditDecision;
  setting?: string;
  folder?: string;
}

interface Tools {
  load(tool: PublishedTool): Promise<Tool>;
  /** Throws UNKNOWN_TOOL. */
  find(name: string): PublishedTool;
}

/** Gives up the place among the calls that are made at a time, for as long as a person thinks. */
type Pause = <T>(wait: () => Promise<T>) => Promise<T>;

/** The calls of one server. */
export function createCalls({ load, find }: Tools, services: CallServices): Calls {
  const { admit, jobs, outputs, mask, recordCall } = services;

  /** Plans and decides. `preview`: somebody will read the plan. */
  async function consider(
    published: PublishedTool,
    tool: Tool,
    values: unknown,
    caller: Caller,
    preview: boolean,
  ): Promise<Considered> {
    const { workspace, settings, client, signal } = caller;
    const noting = notingConsent();
    const trusts = async (folder: string) => (await services.trust()).isTrusted(folder);
    const context: PlanContext = {
      workspace: workspace.consenting(noting.consent),
      client,
      signal,
      budgets: settings.budgets,
      preview,
      trusts,
    };
    const plan = await tool.plan(values, context);
    const { protects } = noting;
    const does = plan.tool === undefined ? published : find(plan.tool);
    const act = {
      ...plan,
      protects,
      tools: [published.name, does.name],
      toolset: companions.has(does.name) ? undefined : does.program,
    };
    const { folder, lasting, trust: needsTrust } = plan;
    const isAlways = async () =>
      lasting !== undefined && asksEachTime(plan) && (await services.trust()).always.has(folder, lasting);
    const verdict = decide(act, settings, {
      trusted: needsTrust === undefined || (await trusts(folder)),
      always: await isAlways(),
    });
    const asksTrust =
      verdict.decision === 'ask' && verdict.reasons.some(({ because }) => because === 'trust');
    const subject = asksTrust ? await (await services.trust()).subjectOf(folder, workspace.roots) : undefined;
    return { plan, protects, verdict, subject };
  }

  /** What may be run, or what the client has to do first. Throws when it may not. */
  async function allowed(
    published: PublishedTool,
    tool: Tool,
    values: unknown,
    caller: Caller,
    { decided, pause }: { decided: Decided; pause: Pause },
  ): Promise<Considered | Extract<Called, { kind: 'later' }>> {
    const { name } = published;
    const first = await consider(published, tool, values, caller, false);
    decided.folder = first.plan.folder;
    if (first.verdict.decision === 'allow') {
      decided.decision = first.verdict.unasked ? 'unasked' : 'allow';
      if (first.verdict.setting !== undefined) decided.setting = first.verdict.setting;
      return first;
    }
    decided.decision = 'denied';
    if (first.verdict.decision === 'deny') {
      decided.setting = first.verdict.setting;
      throw new ToolcribError('EFFECT_DENIED', `${name} is not allowed: ${first.verdict.setting}.`);
    }
    const shown = await consider(published, tool, values, caller, true);
    if (shown.verdict.decision !== 'ask') throw changedMeanwhile(name);
    const asked = { ...shown, reasons: shown.verdict.reasons };
    const question = questionOf(asked);
    const answer = await pause(() => caller.ask(question));
    if (answer.said === 'later') return { kind: 'later', result: answer.result };
    if (answer.said === 'nothing') {
      decided.decision = 'unanswered';
      throw unanswered(
        name,
        asked,
        shown.protects.map(({ path }) => path),
        answer.why,
      );
    }
    decided.decision = `asked:${answer.said}`;
    if (answer.said === 'no') throw refused(name);
    // Long enough to change what was agreed to.
    const again = await consider(published, tool, values, caller, true);
    if (again.verdict.decision !== 'ask') throw changedMeanwhile(name);
    if (questionOf({ ...again, reasons: again.verdict.reasons }).about !== question.about)
      throw changedMeanwhile(name);
    await keep(again, answer.said, question.always !== undefined, caller.workspace);
    return again;
  }

  /** Keeps what was said for longer. That it cannot be kept is no reason to refuse what was agreed to. */
  async function keep(
    { plan, subject }: Considered,
    said: 'yes' | 'always',
    canLast: boolean,
    { roots }: RootedWorkspace,
  ): Promise<void> {
    const trust = await services.trust();
    try {
      if (subject && subject.refused === undefined) await trust.trust(subject.folder);
      const { folder } = subject ?? (await trust.subjectOf(plan.folder, roots));
      if (said === 'always' && canLast && plan.lasting) await trust.always.add(folder, plan.lasting);
    } catch (error) {
      process.stderr.write(`toolcrib: the answer could not be kept: ${String(error)}\n`);
    }
  }

  /** Does what was planned, as a job where it may take longer than a client waits. */
  async function run(
    published: PublishedTool,
    tool: Tool,
    { plan, protects }: Considered,
    caller: Caller,
    key: string,
  ): Promise<ToolResult> {
    const { workspace, client, signal, settings } = caller;
    const { budgets } = settings;
    const context: CallContext = {
      workspace: workspace.consenting(consentTo(protects)),
      client,
      signal,
      budgets,
      preview: false,
      trusts: async (folder) => (await services.trust()).isTrusted(folder),
      progress: (message) => caller.progress(mask(message)),
      keepOutput: (command) => outputs.open(client, command),
    };
    if (!isJob(published)) return tool.run(plan, context);
    const { name, title } = published;
    const answer = await jobs.run(
      client,
      { key, tool: name, title },
      (io) =>
        tool.run(plan, {
          ...context,
          signal: io.signal,
          progress(message) {
            io.progress(message);
            context.progress(message);
          },
          keepOutput: (command, folder) => io.keeps(context.keepOutput(command), command, folder),
        }),
      jobOptions(caller),
    );
    return answer.kind === 'done'
      ? answer.result
      : stillRunning(answer.job, budgets.callSeconds, published.outputSchema !== undefined);
  }

  const jobOptions = ({ signal, settings: { budgets }, progress }: Caller): RunOptions => ({
    signal,
    budgetMs: budgets.callSeconds * 1000,
    limits: budgets,
    progress: (message) => progress(mask(message)),
  });

  /** The same call is running, or has a result that nobody got. */
  async function joined(published: PublishedTool, key: string, caller: Caller) {
    const answer = isJob(published) ? await jobs.join(caller.client, key, jobOptions(caller)) : undefined;
    if (answer === undefined) return undefined;
    if (answer.kind === 'done') return answer.result;
    const { callSeconds } = caller.settings.budgets;
    return stillRunning(answer.job, callSeconds, published.outputSchema !== undefined);
  }

  async function make(
    published: PublishedTool,
    params: unknown,
    caller: Caller,
    decided: Decided,
  ): Promise<Called> {
    refuseDeep(params);
    const enter = async () => (waitingTools.has(published.name) ? undefined : admit(caller.signal));
    let leave = await enter();
    const pause: Pause = async (wait) => {
      leave?.();
      leave = undefined;
      const answer = await wait();
      leave = await enter();
      return answer;
    };
    try {
      const key = keyOf(published, params, caller);
      const result = await joined(published, key, caller);
      if (result) return { kind: 'done', result };
      const tool = await load(published);
      const values = checkParams(tool.params, params);
      const considered = await allowed(published, tool, values, caller, { decided, pause });
      if ('kind' in considered) return considered;
      return { kind: 'done', result: await run(published, tool, considered, caller, key) };
    } finally {
      leave?.();
    }
  }

  return {
    jobs,
    outputs,
    async call(tool, params, caller) {
      const startedAt = performance.now();
      const decided: Decided = {};
      const { client, clientInfo, workspace } = caller;
      const called = await make(tool, params, caller, decided).catch(failed);
      if (called.kind === 'later') return called;
      const result = maskResult(called.result, mask);
      const durationMs = performance.now() - startedAt;
      recordCall({ client, clientInfo, tool, params, roots: workspace.roots, decided, result, durationMs });
      return { kind: 'done', result };
    },
    async plan(published, params, caller) {
      try {
        refuseDeep(params);
        const tool = await load(published);
        const considered = await consider(published, tool, checkParams(tool.params, params), caller, true);
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

/** Whether trust in the folder is not all that there could be to ask. */
const asksEachTime = ({ asks, effects }: Plan): boolean =>
  asks !== undefined || effects.includes('destroy') || effects.includes('publish');

/** It starts a program, which may take longer than a client waits. */
const isJob = ({ name, action }: PublishedTool): boolean => action !== undefined || startingTools.has(name);

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
