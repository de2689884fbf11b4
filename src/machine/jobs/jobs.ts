import { ToolcribError } from '../../core/errors.ts';
import type { Budgets } from '../../core/settings.ts';
import type { ToolResult } from '../../core/tool.ts';
import { beginJob, type Job, type JobCall, type JobFacts, type JobIo } from './job.ts';
import { listenersNow } from './listeners.ts';

export type { Job, JobFacts, JobIo, JobState } from './job.ts';

export interface RunOptions {
  /** The caller's: until the job is announced, it ends the job. */
  readonly signal: AbortSignal;
  /** After this, the caller is told that it is still running. */
  readonly budgetMs: number;
  /** It is a job from the start; the caller is answered when it has begun, and had a moment to print something. */
  readonly announceAtOnce?: boolean;
  /** Its program gets an input that stays open. */
  readonly input?: boolean;
  /** Told each line of a job that this call joins; the one that began it is told by its work. */
  progress?(line: string): void;
  /** What this caller may have; the usual budgets when left out. */
  readonly limits?: Pick<Budgets, 'jobs' | 'jobMinutes'>;
}

/** `job` is there when the result comes from a job that was announced before; `joined`: another call began it. */
export type Answer =
  | { readonly kind: 'done'; readonly result: ToolResult; readonly job?: JobFacts }
  | { readonly kind: 'running'; readonly job: JobFacts; readonly joined?: boolean };

/** Work that may outlive the call that began it. What belongs to one owner does not exist for another. */
export interface Jobs {
  /**
   * Makes a call as a job: tells its result, or that it is still running after the budget. The same call by the same
   * owner joins the job that is running, or gets the result that nobody got. Throws what `work` throws, and BUSY.
   */
  run(
    owner: string,
    call: Omit<JobCall, 'owner'>,
    work: (io: JobIo) => Promise<ToolResult>,
    options: RunOptions,
  ): Promise<Answer>;
  /** Waits for the same call of the same owner, or tells the result of it that nobody got; undefined when there is none. */
  join(owner: string, key: string, options: RunOptions): Promise<Answer | undefined>;
  /** A job that was announced. Throws NOT_FOUND. */
  find(owner: string, id: string): Job;
  /** All that are known, the oldest first. */
  list(owner: string): JobFacts[];
  /** Ends a job, and what it started; returns when that is done. Throws NOT_FOUND. */
  stop(owner: string, id: string): Promise<JobFacts>;
  /** Writes to a job's program. Throws NOT_FOUND, and ARG_INVALID when it takes no input. */
  write(owner: string, id: string, text: string, isLast?: boolean): void;
  /** Ends the jobs of a client that has left, and forgets them. */
  endOwner(owner: string): Promise<void>;
  endAll(): Promise<void>;
}

/** How long the state and result of a job that has ended are kept, and of how many for each owner. */
const keptMs = 60 * 60 * 1000;
const keptOfOwner = 100;
/** How long what is started as a job has to begin, after its checks and questions; and then to print something. */
const beginMs = 10_000;
const firstOutputMs = 1000;
/** What has printed something may have no more to do. */
const nextMs = 150;
/** A job's programs are gone 0.6 s after they were told to end; its tool then has to say so. */
const endMs = 3000;
/** What setTimeout() can count to; more is taken for nothing. */
const longestTimer = 2 ** 31 - 1;

interface Options {
  budgets(): Pick<Budgets, 'jobs' | 'jobMinutes'>;
}

/** The jobs of this process. */
export function createJobs({ budgets }: Options): Jobs {
  /** All that run, announced or not. */
  const running = new Set<Job>();
  /** Those of them that are begun to be jobs, and have a place from then on, until they are announced or have ended. */
  const starting = new Map<Job, Promise<void>>();
  const known = new Map<string, Job>();

  const jobsOf = (owner: string) => [...known.values()].filter((job) => job.call.owner === owner);

  function find(owner: string, id: string): Job {
    const job = known.get(id);
    if (job && job.call.owner === owner) return job;
    throw new ToolcribError(
      'NOT_FOUND',
      `job: there is no job ${JSON.stringify(id)}.`,
      'list_jobs has the ones there are.',
    );
  }

  function refuseWhenFull(owner: string, { limits = budgets() }: RunOptions): void {
    const { jobs: most } = limits;
    const isOne = (job: Job) => job.call.owner === owner && (job.announced || starting.has(job));
    const count = [...running].filter(isOne).length;
    if (count < most) return;
    throw new ToolcribError(
      'BUSY',
      `${count} jobs are running, which is as many as may be (budgets.jobs).`,
      'End one with stop_job (list_jobs has them), or wait for one.',
    );
  }

  function forgetOld(owner: string): void {
    const ended = jobsOf(owner).filter((job) => !running.has(job));
    const tooMany = ended.length - keptOfOwner;
    for (const [index, job] of ended.entries()) {
      const { startedAt, seconds } = job.facts();
      if (index < tooMany || Date.now() - startedAt - seconds * 1000 > keptMs) known.delete(job.id);
    }
  }

  function announce(job: Job): JobFacts {
    job.announced = true;
    known.set(job.id, job);
    forgetOld(job.call.owner);
    return job.facts();
  }

  /** The job that a call which is made again belongs to. */
  function sameCall(owner: string, key: string, isStart: boolean): Job | undefined {
    const same = jobsOf(owner).filter((job) => job.call.key === key);
    return (
      same.findLast((job) => running.has(job)) ??
      (isStart ? undefined : same.findLast((job) => !job.delivered && job.facts().state !== 'stopped'))
    );
  }

  async function join(job: Job, options: RunOptions): Promise<Answer> {
    const { signal, budgetMs, announceAtOnce, progress } = options;
    const wasRunning = running.has(job);
    if (wasRunning && !announceAtOnce) {
      const unwatch = job.watch((line) => line !== undefined && progress?.(line));
      await firstOf([job.ended], budgetMs, signal);
      unwatch();
    }
    if (running.has(job)) return { kind: 'running', job: job.facts(), joined: true };
    const result = job.result();
    return { kind: 'done', job: job.facts(), result: wasRunning ? result : withAge(result, job.facts()) };
  }

  function begin(call: JobCall, work: (io: JobIo) => Promise<ToolResult>, options: RunOptions): Job {
    const { announceAtOnce = false, input = false, limits = budgets() } = options;
    const job = beginJob(call, work, {
      input,
      ...(announceAtOnce && { listenedBefore: listenersNow() }),
    });
    running.add(job);
    const limitMs = Math.min(limits.jobMinutes * 60_000, longestTimer);
    const limit = setTimeout(() => job.end('timed_out'), limitMs).unref();
    void job.ended.finally(() => {
      clearTimeout(limit);
      running.delete(job);
    });
    return job;
  }

  async function endAll(jobs: readonly Job[]): Promise<void> {
    for (const job of jobs) job.end('stopped');
    await firstOf([Promise.all(jobs.map((job) => job.ended))], endMs);
  }

  const startingAs = (owner: string, key: string) =>
    [...starting].find(([{ call }]) => call.owner === owner && call.key === key);

  async function start(job: Job): Promise<Answer> {
    let settle = () => {};
    starting.set(job, new Promise<void>((resolve) => (settle = resolve)));
    try {
      await hasStarted(job);
      return running.has(job)
        ? { kind: 'running', job: announce(job) }
        : { kind: 'done', result: job.result() };
    } finally {
      starting.delete(job);
      settle();
    }
  }

  async function answerWithin(job: Job, owner: string, options: RunOptions): Promise<Answer> {
    await firstOf([job.ended], options.budgetMs);
    // Cancelled: what it started is being ended, and is gone when it says so.
    if (options.signal.aborted) await job.ended;
    if (!running.has(job)) return { kind: 'done', result: job.result() };
    try {
      refuseWhenFull(owner, options);
    } catch (error) {
      job.end('stopped');
      await job.ended;
      throw error;
    }
    return { kind: 'running', job: announce(job) };
  }

  return {
    async run(owner, call, work, options) {
      const { signal, announceAtOnce = false } = options;
      const isSame = () => (announceAtOnce && !signal.aborted ? startingAs(owner, call.key) : undefined);
      // Nothing is awaited between the last look and the start: of several such calls, one starts.
      for (let now = isSame(); now; now = isSame()) {
        const [job, settled] = now;
        await firstOf([settled], longestTimer, signal);
        // Where it failed, was stopped or asks a person, the next tries for itself.
        if (!job.announced && !running.has(job) && job.facts().state === 'done')
          return { kind: 'done', result: job.result() };
      }
      const same = sameCall(owner, call.key, announceAtOnce);
      if (same) return join(same, options);
      if (announceAtOnce) refuseWhenFull(owner, options);
      const job = begin({ ...call, owner }, work, options);
      const cancel = () => job.end('stopped');
      if (signal.aborted) cancel();
      signal.addEventListener('abort', cancel, { once: true });
      try {
        return await (announceAtOnce ? start(job) : answerWithin(job, owner, options));
      } finally {
        signal.removeEventListener('abort', cancel);
      }
    },
    async join(owner, key, options) {
      const same = sameCall(owner, key, false);
      return same && join(same, options);
    },
    find,
    list(owner) {
      forgetOld(owner);
      return jobsOf(owner).map((job) => job.facts());
    },
    async stop(owner, id) {
      const job = find(owner, id);
      await endAll([job]);
      return job.facts();
    },
    write: (owner, id, text, isLast = false) => find(owner, id).write(text, isLast),
    async endOwner(owner) {
      await endAll([...running].filter((job) => job.call.owner === owner));
      for (const job of jobsOf(owner)) known.delete(job.id);
    },
    async endAll() {
      await endAll([...running]);
      known.clear();
    },
  };
}

/** Waits until a job has ended, or goes on with nothing left to be asked, and had a moment to print something. */
async function hasStarted(job: Job): Promise<void> {
  await firstOf([job.begun, job.ended], beginMs);
  let printed = () => {};
  const first = new Promise<void>((resolve) => (printed = resolve));
  const unwatch = job.watch(() => printed());
  await firstOf([job.ended, first], firstOutputMs);
  unwatch();
  await firstOf([job.ended], nextMs);
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
function withAge(result: ToolResult, { id, startedAt, seconds }: JobFacts): ToolResult {
  const ago = Math.round((Date.now() - startedAt) / 1000 - seconds);
  const note = `the result of job ${id}, which the same call began and which ended ${ago} s ago; make the call again to run it anew`;
  if (!result.data || result.isError)
    return { ...result, content: [...(result.content ?? []), { type: 'text', text: `[${note}]` }] };
  const { notes } = result.data;
  return { ...result, data: { ...result.data, notes: [...(Array.isArray(notes) ? notes : []), note] } };
}
