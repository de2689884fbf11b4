import { readFileSync } from 'node:fs';
import { ToolcribError } from '../../core/errors.ts';
import type { CallContext, OutputSink, ProgramInput, Result } from '../../core/tool.ts';

/** What makes a call the same as another. */
export interface JobCall {
  /** The same for calls with the same tool, parameters and roots. */
  readonly key: string;
  readonly tool: string;
  readonly title: string;
  /** It was begun as a job: its call is answered at once, and its program can be written to. */
  readonly isBackground: boolean;
}

/** - failed   it ended with an error
 *  - stopped  it was told to end, or its client left
 *  - timed_out  it was ended at its time limit */
export type JobState = 'running' | 'done' | 'failed' | 'stopped' | 'timed_out';

export type JobWork = (context: CallContext) => Promise<Result>;

/** Work that may outlive the call that began it. */
export class Job {
  readonly call: JobCall;
  readonly client: string;
  /** Resolves when it has ended; never rejects. */
  readonly ended: Promise<void>;
  /** In ms since 1970; undefined while it runs. */
  endedAt: number | undefined;
  /** When its result was told, for a call that is made again. */
  isTold = false;
  /** Safe to show; the other texts of programs are as they were printed. */
  lastLine: string | undefined;
  /** Its program, once it has one. */
  program: { readonly command: string; readonly folder?: string | undefined } | undefined;
  /** Ports that were listened to before it began; undefined where that is not known. */
  readonly portsBefore: ReadonlySet<number> | undefined;
  readonly #startedAt = Date.now();
  readonly #stopping = new AbortController();
  readonly #keepOutput: () => OutputSink;
  #lastLineAt: number | undefined;
  #output: OutputSink | undefined;
  #why: 'stopped' | 'timed_out' | undefined;
  #input: ProgramInput | undefined;
  #outcome: PromiseSettledResult<Result> | undefined;

  /** Begins to work. */
  constructor(call: JobCall, work: JobWork, context: CallContext) {
    this.call = call;
    this.client = context.client;
    this.portsBefore = call.isBackground ? listeningPorts() : undefined;
    this.#keepOutput = () => context.keepOutput(call.tool);
    this.ended = this.#settle(work, context);
  }

  /** The handle of what its program prints, by which it is named. */
  get id(): string {
    return (this.#output ??= this.#keepOutput()).handle;
  }

  async #settle(work: JobWork, context: CallContext): Promise<void> {
    // What it throws at once is told as what it throws later.
    const begun = Promise.resolve().then(() => work(this.#within(context)));
    [this.#outcome] = await Promise.allSettled([begun]);
    this.endedAt = Date.now();
    this.#output?.end();
    this.#input = undefined;
  }

  /** The context of a call, which notes for the job what there is to know of it. */
  #within(context: CallContext): CallContext {
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
        return (this.#output = context.keepOutput(command, folder, this.#output?.handle));
      },
      ...(this.call.isBackground && { takeInput: (input) => void (this.#input = input) }),
    };
  }

  get state(): JobState {
    if (!this.#outcome) return 'running';
    const isFailed = this.#outcome.status === 'rejected' || this.#outcome.value.isError;
    return this.#why ?? (isFailed ? 'failed' : 'done');
  }

  /** For how long it has said no more, in ms; undefined when it has not said anything. */
  get quietFor(): number | undefined {
    return this.#lastLineAt === undefined ? undefined : performance.now() - this.#lastLineAt;
  }

  /**
   * Whether something listens to a port that nothing listened to before it began; false where that is not
   * known.
   */
  listens(): boolean {
    const before = this.portsBefore;
    return before !== undefined && [...(listeningPorts() ?? [])].some((port) => !before.has(port));
  }

  /** How long it has been running, or ran. */
  get seconds(): number {
    return ((this.endedAt ?? Date.now()) - this.#startedAt) / 1000;
  }

  /** What came of it, which is then told. Throws what its work has thrown. Not before it has ended. */
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
    if (!isWritten)
      throw new ToolcribError(
        'NOT_FOUND',
        `id: nothing reads the input of ${this.id}: its program has not started, has ended, or does not listen.`,
        `read_output id=${this.id} tells how it is.`,
      );
    if (isLast) this.#input?.end();
  }
}

/** The TCP ports that something listens to on this computer; undefined on systems that have no file of them. */
function listeningPorts(): ReadonlySet<number> | undefined {
  try {
    const tables = ['/proc/net/tcp', '/proc/net/tcp6'].map((file) => readFileSync(file, 'latin1')).join('\n');
    // proc_net_tcp(5): the local address and port, the remote ones, and the state, of which 0A is LISTEN.
    const listening = tables.matchAll(/^ *\d+: [0-9A-F]+:([0-9A-F]{4}) [0-9A-F]+:[0-9A-F]{4} 0A/gm);
    return new Set([...listening].map(([, port = '']) => Number.parseInt(port, 16)));
  } catch {
    // No Linux, or no IPv6 there.
    return undefined;
  }
}
