import { ToolcribError } from '../../core/errors.ts';
import type { CallContext, Result } from '../../core/tool.ts';
import { Job, type JobCall, type JobWork } from './job.ts';

/** The part of a call's context that waiting for a job needs. */
export type Waiter = Pick<CallContext, 'client' | 'signal' | 'budgets' | 'progress'>;

/** The result of a call, or the job that it has become; `joined` is true where another call began the job. */
export type JobAnswer =
  | { readonly kind: 'done'; readonly result: Result }
  | { readonly kind: 'running'; readonly job: Job; readonly joined?: boolean };

/** The time for which the state and result of an ended job are kept, and the most jobs for which they are. */
const retentionMs = 60 * 60 * 1000;
const mostRetained = 100;
/**
 * The time that a background job has to begin: until it listens, has ended, or prints nothing more for
 * `quietMs`. A start that fails within `nextMs` after that is still reported as one.
 */
const beginMs = 3000;
const quietMs = 500;
const nextMs = 150;
/**
 * The time that a job has to end: its programs are gone 0.9 s after they were told to end, and its tool then
 * reports it.
 */
const endMs = 3000;
/**
 * The interval at which a waiting call looks at its job, so that progress is reported ten times a second at
 * most.
 */
const lookMs = 100;

/** The jobs of all clients. A job of one client does not exist for another. */
export class Jobs {
  /** All running work, including calls that are no jobs yet. */
  readonly #running = new Set<Job>();
  readonly #known = new Set<Job>();
  readonly #instance: string | undefined;
  readonly #onEnd: ((id: string) => void) | undefined;

  /**
   * Creates an empty list. `instance` names this server where handles name theirs, and `onEnd` is called with
   * the id of each job that ends.
   */
  constructor(instance?: string, onEnd?: (id: string) => void) {
    this.#instance = instance;
    this.#onEnd = onEnd;
  }

  /**
   * Makes a call. Returns its result, or that it is still running after the time budget, from when on it is a
   * job. A call in the background is a job from its beginning, and returned when it has begun its work.
   * Throws what `work` throws, and BUSY.
   */
  async run(call: JobCall, work: JobWork, context: CallContext): Promise<JobAnswer> {
    const { signal, budgets, client } = context;
    const { isBackground } = call;
    const same = isBackground ? this.#runningSame(client, call.key) : undefined;
    if (isBackground && !same) this.#refuseWhenFull(context);
    const job = same ?? this.#begin(call, work, context);
    if (isBackground) await hasBegun(job, signal);
    else await endOrTimeout(job.ended, budgets.callSeconds * 1000, signal);
    if (signal.aborted && !same) {
      job.end('stopped');
      // A job ends when the programs that it started are gone.
      await job.ended;
    }
    if (job.state !== 'running') {
      this.#known.delete(job);
      return { kind: 'done', result: job.result() };
    }
    try {
      if (!isBackground) this.#refuseWhenFull(context);
    } catch (error) {
      await end([job]);
      throw error;
    }
    this.#announce(job);
    return { kind: 'running', job, joined: same !== undefined };
  }

  /**
   * Waits for the same call of the same client, or returns its result when nobody has received it; undefined
   * without such a call.
   */
  async join(key: string, waiter: Waiter): Promise<JobAnswer | undefined> {
    const same = this.list(waiter.client).filter(({ call }) => call.key === key);
    const job =
      this.#runningSame(waiter.client, key) ??
      same.findLast((each) => !each.isTold && !each.call.isBackground && each.state !== 'stopped');
    if (!job) return undefined;
    if (job.endedAt !== undefined)
      return { kind: 'done', result: withAge(job.result(), job.id, job.endedAt) };
    if (!job.call.isBackground) await waitForJob(job, waiter, waiter.budgets.callSeconds * 1000);
    if (job.state === 'running') return { kind: 'running', job, joined: true };
    return { kind: 'done', result: job.result() };
  }

  /** Finds a job of a client. Throws NOT_FOUND for a handle that names another server. */
  find(client: string, id: string): Job | undefined {
    const named = this.#instance === undefined ? undefined : /-\d+-([a-z0-9]{6})$/.exec(id)?.[1];
    if (named !== undefined && named !== this.#instance)
      throw new ToolcribError(
        'NOT_FOUND',
        `id: it belongs to another server, or one that has ended: ${named}; this is ${this.#instance}.`,
        'Calls with it have to reach the server that gave it; else do the work again.',
      );
    return this.list(client).find((job) => job.id === id);
  }

  /** The known jobs of a client, the oldest first. */
  list(client: string): Job[] {
    return [...this.#known].filter((job) => job.client === client);
  }

  async endAll(): Promise<void> {
    await end([...this.#running]);
    this.#known.clear();
  }

  #begin(call: JobCall, work: JobWork, context: CallContext): Job {
    const job = new Job(call, work, context);
    this.#running.add(job);
    // Announced before anybody waits, so that of identical calls at once only one begins it.
    if (call.isBackground) this.#announce(job);
    const limit = setTimeout(() => job.end('timed_out'), context.budgets.jobMinutes * 60_000).unref();
    void job.ended.finally(() => {
      clearTimeout(limit);
      this.#running.delete(job);
      if (this.#known.has(job)) this.#onEnd?.(job.id);
    });
    return job;
  }

  #runningSame(client: string, key: string): Job | undefined {
    return this.list(client).findLast((job) => job.call.key === key && this.#running.has(job));
  }

  #refuseWhenFull({ client, budgets }: Waiter): void {
    const count = this.list(client).filter((job) => this.#running.has(job)).length;
    if (count < budgets.jobs) return;
    throw new ToolcribError(
      'BUSY',
      `${count} jobs are running, which is as many as may be (budgets.jobs).`,
      'Stop one by control_job (read_output without an id lists them), or wait for one.',
    );
  }

  #announce(job: Job): void {
    this.#known.add(job);
    const ended = [...this.#known].filter(({ endedAt }) => endedAt !== undefined);
    for (const [index, old] of ended.entries())
      if (index < ended.length - mostRetained || Date.now() - (old.endedAt ?? 0) > retentionMs)
        this.#known.delete(old);
  }
}

/** Waits until a job has begun its work or has failed to, so that a failing start is reported as one. */
async function hasBegun(job: Job, signal: AbortSignal): Promise<void> {
  const silent = { signal, progress: () => {} };
  await waitForJob(job, silent, beginMs, () => job.listens() || (job.quietFor ?? 0) > quietMs);
  await endOrTimeout(job.ended, nextMs, signal);
}

/** Ends jobs and what they started; returns when that is done. */
export async function end(jobs: readonly Job[]): Promise<void> {
  for (const job of jobs) job.end('stopped');
  await endOrTimeout(Promise.all(jobs.map((job) => job.ended)), endMs);
}

/**
 * Waits until a job has ended, `isSo` is true, the time is over, or the signal comes, and reports its last
 * line meanwhile. Throws what `isSo` throws.
 */
export async function waitForJob(
  job: Job,
  { signal, progress }: Pick<Waiter, 'signal' | 'progress'>,
  mostMs: number,
  isSo: () => boolean | Promise<boolean> = () => false,
): Promise<void> {
  const until = performance.now() + mostMs;
  let reported = job.lastLine;
  for (;;) {
    const { state, lastLine } = job;
    if (lastLine !== undefined && lastLine !== reported) progress(lastLine);
    reported = lastLine;
    if (await isSo()) return;
    const remaining = until - performance.now();
    // The state from before `isSo` was called, which has not seen what was printed since.
    if (state !== 'running' || remaining <= 0 || signal.aborted) return;
    await endOrTimeout(job.ended, Math.min(remaining, lookMs), signal);
  }
}

/** Waits for a promise that never rejects, for a limited time or until the signal comes. */
async function endOrTimeout(ended: Promise<unknown>, mostMs: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted) return;
  await new Promise<void>((resolve) => {
    const go = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', go);
      resolve();
    };
    const timer = setTimeout(go, mostMs);
    signal?.addEventListener('abort', go, { once: true });
    void ended.then(go);
  });
}

/** Adds a note to a result from before the call, because what it describes may have changed since. */
function withAge(result: Result, id: string, endedAt: number): Result {
  const ago = Math.round((Date.now() - endedAt) / 1000);
  const note = `this is ${id}, which the same call began; it ended ${ago} s ago: call again to run it anew`;
  return { ...result, content: [...result.content, { type: 'text', text: `[${note}]` }] };
}
