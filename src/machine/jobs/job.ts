import { readFileSync } from 'node:fs';
import { ToolcribError } from '../../core/errors.ts';
import type { CallContext, OutputSink, ProgramInput, Result } from '../../core/tool.ts';

/** The call that a job does, and what identifies it. */
export interface JobCall {
  /** A key that is the same for calls with the same tool, parameters and roots. */
  readonly key: string;
  readonly tool: string;
  readonly title: string;
  /** True where it was begun as a job: the call is answered at once, and its program can be written to. */
  readonly isBackground: boolean;
}

/**
 * The state of a job:
 * - failed: it ended with an error
 * - stopped: it was told to end, or its client left
 * - timed_out: it was ended at its time limit
 */
export type JobState = 'running' | 'done' | 'failed' | 'stopped' | 'timed_out';

export type JobWork = (context: CallContext) => Promise<Result>;

/** Work that may outlive the call that began it. */
export class Job {
  readonly call: JobCall;
  readonly client: string;
  /** Resolves when the job has ended; never rejects. */
  readonly ended: Promise<void>;
  /** The time of its end in ms since 1970; undefined while it runs. */
  endedAt: number | undefined;
  /** True once its result was returned, so that a repeated call does not get it again. */
  isTold = false;
  /** The last line of progress, safe to show; the other texts of its program are as they were printed. */
  lastLine: string | undefined;
  /** The program that it runs, once it has started one. */
  program: { readonly command: string; readonly folder?: string | undefined } | undefined;
  /** The ports that something listened to before it began; undefined where that is not known. */
  readonly portsBefore: ReadonlySet<number> | undefined;
  readonly #startedAt = Date.now();
  readonly #stopping = new AbortController();
  readonly #keepOutput: () => OutputSink;
  #lastLineAt: number | undefined;
  #output: OutputSink | undefined;
  #why: 'stopped' | 'timed_out' | undefined;
  #input: ProgramInput | undefined;
  #outcome: PromiseSettledResult<Result> | undefined;

  /** Starts the work. */
  constructor(call: JobCall, work: JobWork, context: CallContext) {
    this.call = call;
    this.client = context.client;
    this.portsBefore = call.isBackground ? listeningPorts() : undefined;
    this.#keepOutput = () => context.keepOutput(call.tool);
    this.ended = this.#settle(work, context);
  }

  /** The handle of its program's output, which names the job as well. */
  get id(): string {
    this.#output ??= this.#keepOutput();
    return this.#output.handle;
  }

  async #settle(work: JobWork, context: CallContext): Promise<void> {
    // Within then(), what the work throws at once becomes a rejection like any later one.
    const begun = Promise.resolve().then(() => work(this.#within(context)));
    [this.#outcome] = await Promise.allSettled([begun]);
    this.endedAt = Date.now();
    this.#output?.end();
    this.#input = undefined;
  }

  /** The context for the work, which records for the job what there is to know of it. */
  #within(context: CallContext): CallContext {
    const takeInput = (input: ProgramInput | undefined) => {
      this.#input = input;
    };
    return {
      ...context,
      signal: this.#stopping.signal,
      progress: (line) => {
        this.lastLine = line;
        this.#lastLineAt = performance.now();
        context.progress(line);
      },
      keepOutput: (command, folder) => {
        this.program = { command, folder };
        this.#output = context.keepOutput(command, folder, this.#output?.handle);
        return this.#output;
      },
      ...(this.call.isBackground && { takeInput }),
    };
  }

  get state(): JobState {
    if (!this.#outcome) return 'running';
    const isFailed = this.#outcome.status === 'rejected' || this.#outcome.value.isError;
    return this.#why ?? (isFailed ? 'failed' : 'done');
  }

  /** The milliseconds since its last line of progress; undefined when there was none. */
  get quietFor(): number | undefined {
    return this.#lastLineAt === undefined ? undefined : performance.now() - this.#lastLineAt;
  }

  /**
   * True where something listens to a port that nothing listened to before it began; false where that is not
   * known.
   */
  listens(): boolean {
    const before = this.portsBefore;
    return before !== undefined && [...(listeningPorts() ?? [])].some((port) => !before.has(port));
  }

  /** The seconds that it has been running, or ran. */
  get seconds(): number {
    return ((this.endedAt ?? Date.now()) - this.#startedAt) / 1000;
  }

  /**
   * Returns its result, and notes that it was returned. Throws what its work has thrown, and an Error before
   * it has ended.
   */
  result(): Result {
    if (!this.#outcome) throw new Error(`job ${this.id} has not ended`);
    this.isTold = true;
    if (this.#outcome.status === 'rejected') throw this.#outcome.reason;
    return this.#outcome.value;
  }

  end(why: 'stopped' | 'timed_out'): void {
    if (this.endedAt !== undefined) return;
    this.#why ??= why;
    this.#stopping.abort();
  }

  /** Writes to its program. Throws ARG_INVALID when it takes no input, NOT_FOUND when nothing reads any. */
  write(text: string, isLast: boolean): void {
    if (!this.call.isBackground)
      throw new ToolcribError(
        'ARG_INVALID',
        `id: ${this.id} takes no input.`,
        'Only what was started with background: true can be written to.',
      );
    const isWritten = text === '' ? this.#input !== undefined : this.#input?.write(text);
    const why = 'its program has not started, has ended, or does not listen';
    if (!isWritten)
      throw new ToolcribError(
        'NOT_FOUND',
        `id: nothing reads the input of ${this.id}: ${why}.`,
        `read_output id=${this.id} tells how it is.`,
      );
    if (isLast) this.#input?.end();
  }
}

/**
 * The TCP ports that something listens to on this computer; undefined on systems that have no file of them.
 */
function listeningPorts(): ReadonlySet<number> | undefined {
  try {
    const tables = ['/proc/net/tcp', '/proc/net/tcp6'].map((file) => readFileSync(file, 'latin1')).join('\n');
    // proc_net_tcp(5): the local address and port, the remote ones, and the state, of which 0A is LISTEN.
    const listening = tables.matchAll(/^ *\d+: [0-9A-F]+:([0-9A-F]{4}) [0-9A-F]+:[0-9A-F]{4} 0A/gm);
    return new Set([...listening].map(([, port = '']) => Number.parseInt(port, 16)));
  } catch {
    // Only Linux has these files, and the second one only with IPv6.
    return undefined;
  }
}
