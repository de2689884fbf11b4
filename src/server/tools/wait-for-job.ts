import { ToolcribError } from '../../core/errors.ts';
import type { Job } from '../../machine/jobs/jobs.ts';
import { accepts, listenersNow } from '../../machine/jobs/listeners.ts';
import { searchLines } from '../../machine/output-store/search-lines.ts';
import type { StoredOutput } from '../../machine/output-store/stored-output.ts';

export interface WaitOptions {
  find(handle: string): StoredOutput;
  readonly signal: AbortSignal;
  progress(line: string): void;
  readonly mostMs: number;
  readonly pattern: string | undefined;
  readonly port: number | undefined;
}

/** Why a wait is over. */
export type Happened =
  | { readonly kind: 'ended' | 'timed_out' | 'cancelled' }
  | { readonly kind: 'matched'; readonly line: number }
  /** `before`: the same socket listened before the job was started. */
  | { readonly kind: 'listens'; readonly before: boolean };

/** How often a port is tried. */
const lookMs = 150;

/** Waits until the first of what is waited for has come. Throws ARG_INVALID for a pattern that is none, or takes too long. */
export async function waitForJob(job: Job, options: WaitOptions): Promise<Happened> {
  const { signal, mostMs, pattern, port, progress } = options;
  const until = performance.now() + mostMs;
  const search = pattern === undefined ? undefined : createSearch(job, pattern, options);
  let printed = true;
  let wake = () => {};
  const unwatch = job.watch((line) => {
    if (line !== undefined) progress(line);
    printed = true;
    wake();
  });
  void job.ended.then(() => wake());
  const awake = () => wake();
  signal.addEventListener('abort', awake);
  try {
    for (;;) {
      if (signal.aborted) return { kind: 'cancelled' };
      // Before it is looked at: what is printed while it is looked at is looked at again.
      const hasEnded = job.facts().state !== 'running';
      if (search && (printed || hasEnded)) {
        printed = false;
        const line = await search();
        if (line !== undefined) return { kind: 'matched', line };
      }
      if (hasEnded) return { kind: 'ended' };
      if (port !== undefined && (await accepts(port)))
        return { kind: 'listens', before: await listenedBefore(job, port) };
      const left = until - performance.now();
      if (left <= 0) return { kind: 'timed_out' };
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, Math.min(left, lookMs));
        wake = () => {
          // Not with each chunk: a program that floods is looked at some times a second.
          if (job.facts().state === 'running' && !signal.aborted) return;
          clearTimeout(timer);
          resolve();
        };
      });
    }
  } finally {
    unwatch();
    signal.removeEventListener('abort', awake);
  }
}

/** Looks for the first line that matches, from where it looked last; a line that may still grow is looked at again. */
function createSearch(job: Job, pattern: string, { find, signal }: WaitOptions) {
  let handle: string | undefined;
  let from = 1;
  return async (): Promise<number | undefined> => {
    const { output } = job.facts();
    if (output === undefined) return undefined;
    if (output !== handle) from = 1;
    handle = output;
    const stored = find(output);
    const total = stored.lineCount('both');
    try {
      for await (const step of searchLines(stored, { view: 'both', from, pattern, context: 0, signal }))
        if (step.kind === 'found') return step.line.number;
    } catch (error) {
      if (!(error instanceof ToolcribError) || error.code !== 'ARG_INVALID') throw error;
      throw new ToolcribError(error.code, error.message.replace(/^grep\b/, 'pattern'));
    }
    // Of each stream one line may not be ended.
    from = Math.max(from, total - 1);
    return undefined;
  };
}

async function listenedBefore(job: Job, port: number): Promise<boolean> {
  const [before, now] = await Promise.all([job.listenedBefore, listenersNow()]);
  const [then, today] = [before?.get(port), now?.get(port)];
  return then !== undefined && today !== undefined && [...today].every((socket) => then.has(socket));
}
