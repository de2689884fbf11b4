import { ToolcribError } from '../../core/errors.ts';
import type { CallContext, ToolResult } from '../../core/tool.ts';
import { Job, type JobCall, type JobWork } from './job.ts';

/** What a call that waits for a job has. */
export type Waiter = Pick<CallContext, 'client' | 'signal' | 'budgets' | 'progress'>;

/** `joined`: another call began it. */
export type Answer =
  | { readonly kind: 'done'; readonly result: ToolResult }
  | { readonly kind: 'running'; readonly job: Job; readonly joined?: boolean };

/** Work that may outlive the call that began it. What belongs to one client does not exist for another. */
export interface Jobs {
  /**
   * Makes a call: tells its result, or that it is still running after the budget, from when on it is a job. Throws what
   * `work` throws, and BUSY.
   */
  run(call: JobCall, work: JobWork, context: CallContext): Promise<Answer>;
  /**
   * Makes a call as a job, unless the same is running, and tells of it when it had a moment to print something; the
   * result when it ended at once. `takesInput`: its program gets one that stays open. Throws what `run` does.
   */
  start(call: JobCall, work: JobWork, context: CallContext, takesInput: boolean): Promise<Answer>;
  /** Waits for the same call of the same client, or tells its result that nobody got; undefined without one. */
  join(key: string, waiter: Waiter): Promise<Answer | undefined>;
  /** Throws NOT_FOUND. */
  find(client: string, id: string): Job;
  /** All that are known, the oldest first. */
  list(client: string): Job[];
  /** Ends a job, and what it started; returns when that is done. Throws NOT_FOUND. */
  stop(client: string, id: string): Promise<Job>;
  endAll(): Promise<void>;
}

/** How long the state and result of a job that has ended are kept, and of how many. */
const keptMs = 60 * 60 * 1000;
const mostKept = 100;
/** How long what is started as a job has to print something; what has may have no more to do. */
const firstOutputMs = 1000;
const nextMs = 150;
/** A job's programs are gone 0.9 s after they were told to end; its tool then has to say so. */
const endMs = 3000;
/** How often a job is looked at by who waits for it: progress is told ten times a second at most. */
const lookMs = 100;

/** The jobs of this process. */
export function createJobs(): Jobs {
  /** All that run, also calls that are no jobs yet. */
  const running = new Set<Job>();
  const known = new Map<string, Job>();

  const jobsOf = (client: string) => [...known.values()].filter((job) => job.client === client);

  function find(client: string, id: string): Job {
    const job = known.get(id);
    if (job?.client === client) return job;
    throw new ToolcribError(
      'NOT_FOUND',
      `job: there is no job ${JSON.stringify(id)}.`,
      'list_jobs has the ones there are.',
    );
  }

  function refuseWhenFull({ client, budgets }: Waiter): void {
    const count = jobsOf(client).filter((job) => running.has(job)).length;
    if (count < budgets.jobs) return;
    throw new ToolcribError(
      'BUSY',
      `${count} jobs are running, which is as many as may be (budgets.jobs).`,
      'End one with stop_job (list_jobs has them), or wait for one.',
    );
  }

  function announce(job: Job): void {
    known.set(job.id, job);
    const ended = [...known.values()].filter(({ endedAt }) => endedAt !== undefined);
    for (const [index, { id, endedAt = 0 }] of ended.entries())
      if (index < ended.length - mostKept || Date.now() - endedAt > keptMs) known.delete(id);
  }

  function begin(call: JobCall, work: JobWork, context: CallContext, takesInput?: boolean): Job {
    const job = new Job(call, work, context, takesInput);
    running.add(job);
    const limit = setTimeout(() => job.end('timed_out'), context.budgets.jobMinutes * 60_000).unref();
    void job.ended.finally(() => {
      clearTimeout(limit);
      running.delete(job);
    });
    return job;
  }

  async function end(jobs: readonly Job[]): Promise<void> {
    for (const job of jobs) job.end('stopped');
    await firstOf([Promise.all(jobs.map((job) => job.ended))], endMs);
  }

  const sameCall = (client: string, key: string) => jobsOf(client).filter((job) => job.call.key === key);

  return {
    async run(call, work, context) {
      const job = begin(call, work, context);
      const cancel = () => job.end('stopped');
      if (context.signal.aborted) cancel();
      context.signal.addEventListener('abort', cancel, { once: true });
      await firstOf([job.ended], context.budgets.callSeconds * 1000);
      // Cancelled: what it started is being ended, and is gone when it says so.
      if (context.signal.aborted) await job.ended;
      context.signal.removeEventListener('abort', cancel);
      if (job.state !== 'running') return { kind: 'done', result: job.result() };
      try {
        refuseWhenFull(context);
      } catch (error) {
        await end([job]);
        throw error;
      }
      announce(job);
      return { kind: 'running', job };
    },
    async start(call, work, context, takesInput) {
      const same = sameCall(context.client, call.key).findLast((job) => running.has(job));
      if (!same) refuseWhenFull(context);
      const job = same ?? begin(call, work, context, takesInput);
      announce(job);
      const printed = () => job.lastLine !== undefined;
      await waitForJob(job, { ...context, progress: () => {} }, firstOutputMs, printed);
      await firstOf([job.ended], nextMs, context.signal);
      if (context.signal.aborted && !same) await end([job]);
      if (job.state === 'running') return { kind: 'running', job, joined: same !== undefined };
      known.delete(job.id);
      return { kind: 'done', result: job.result() };
    },
    async join(key, waiter) {
      const same = sameCall(waiter.client, key);
      const job =
        same.findLast((one) => running.has(one)) ??
        same.findLast((one) => !one.isTold && one.state !== 'stopped');
      if (!job) return undefined;
      if (job.endedAt !== undefined)
        return { kind: 'done', result: withAge(job.result(), job.id, job.endedAt) };
      await waitForJob(job, waiter, waiter.budgets.callSeconds * 1000);
      if (job.state === 'running') return { kind: 'running', job, joined: true };
      return { kind: 'done', result: job.result() };
    },
    find,
    list: jobsOf,
    async stop(client, id) {
      const job = find(client, id);
      await end([job]);
      return job;
    },
    async endAll() {
      await end([...running]);
      known.clear();
    },
  };
}

/**
 * Waits until a job has ended, something is so, some time is over, or the signal comes, and tells its last line
 * meanwhile. Throws what `isSo` throws.
 */
export async function waitForJob(
  job: Job,
  { signal, progress }: Pick<Waiter, 'signal' | 'progress'>,
  mostMs: number,
  isSo: () => boolean | Promise<boolean> = () => false,
): Promise<void> {
  const until = performance.now() + mostMs;
  let told = job.lastLine;
  for (;;) {
    const { state, lastLine } = job;
    if (lastLine !== undefined && lastLine !== told) progress(lastLine);
    told = lastLine;
    if (await isSo()) return;
    const left = until - performance.now();
    // Its state from before it was looked at: what it printed since has not been seen.
    if (state !== 'running' || left <= 0 || signal.aborted) return;
    await firstOf([job.ended], Math.min(left, lookMs), signal);
  }
}

/** Waits for one of several things that never fail, for a limited time. */
async function firstOf(
  things: readonly Promise<unknown>[],
  mostMs: number,
  signal?: AbortSignal,
): Promise<void> {
  if (signal?.aborted) return;
  await new Promise<void>((resolve) => {
    const go = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', go);
      resolve();
    };
    const timer = setTimeout(go, mostMs);
    signal?.addEventListener('abort', go, { once: true });
    for (const thing of things) void thing.then(go);
  });
}

/** A result that was there before the call says so: what it tells of may have changed since. */
function withAge(result: ToolResult, id: string, endedAt: number): ToolResult {
  const ago = Math.round((Date.now() - endedAt) / 1000);
  const note = `the result of job ${id}, which the same call began; it ended ${ago} s ago: call again to run it anew`;
  if (!result.data || result.isError)
    return { ...result, content: [...(result.content ?? []), { type: 'text', text: `[${note}]` }] };
  const { notes } = result.data;
  return { ...result, data: { ...result.data, notes: [...(Array.isArray(notes) ? notes : []), note] } };
}
