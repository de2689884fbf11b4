import { randomBytes } from 'node:crypto';
import { ToolcribError } from '../../core/errors.ts';
import type { OutputSink, ProgramInput, ToolResult } from '../../core/tool.ts';
import type { Listeners } from './listeners.ts';

/** Whose call it is, and what makes it the same as another. */
export interface JobCall {
  readonly owner: string;
  /** The same for calls with the same tool, parameters and roots. */
  readonly key: string;
  readonly tool: string;
  readonly title: string;
}

/** What a call that runs as a job gets of it. */
export interface JobIo {
  /** Aborted when the job is to end. */
  readonly signal: AbortSignal;
  /** Tells the job's last line. */
  progress(line: string): void;
  /** To be written to in the place of `sink`, by whose handle the job's output is found. */
  keeps(sink: OutputSink, command: string, folder?: string): OutputSink;
  /** Takes the input of the program; only in a job that was started with input. */
  readonly takeInput?: (input: ProgramInput) => void;
}

/** - failed   it ended with an error
 *  - stopped  it was told to end, or its client left
 *  - timed_out  it was ended at its time limit */
export type JobState = 'running' | 'done' | 'failed' | 'stopped' | 'timed_out';

/** A job as it is now. Texts of programs in it are as they were printed, but for `lastLine`, which is safe to show. */
export interface JobFacts {
  readonly id: string;
  readonly tool: string;
  readonly title: string;
  readonly state: JobState;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  /** How long it has been running, or ran. */
  readonly seconds: number;
  /** The command line of its latest program. */
  readonly command?: string;
  /** Where that program works. */
  readonly folder?: string;
  /** The handle of that program's output. */
  readonly output?: string;
  readonly lastLine?: string;
}

export interface Job {
  readonly call: JobCall;
  readonly id: string;
  /** Resolves when it has ended; never rejects. */
  readonly ended: Promise<void>;
  /** Resolves when its first program is about to start, or it has something to tell. */
  readonly begun: Promise<void>;
  /** Whether it goes on without the call that made it. */
  announced: boolean;
  /** When its result was told, for a call that is made again. */
  delivered: boolean;
  /** What listened on this computer before it was started, where that is known. */
  readonly listenedBefore?: Promise<Listeners | undefined>;
  facts(): JobFacts;
  /** What came of it, which is then delivered. Throws what its work has thrown. Not before it has ended. */
  result(): ToolResult;
  end(why: 'stopped' | 'timed_out'): void;
  /** Writes to its program. Throws ARG_INVALID when it takes no input, NOT_FOUND when nothing reads any. */
  write(text: string, isLast: boolean): void;
  /** Calls back with each line it tells, and with undefined when it has printed something. What it returns ends that. */
  watch(listener: (line: string | undefined) => void): () => void;
}

type Ending = { readonly result: ToolResult } | { readonly error: unknown };

/** 100 bits, in letters that are told apart when read aloud and that no command line takes for an option. */
const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';
const newId = (): string => [...randomBytes(20)].map((byte) => alphabet[byte % 32]).join('');

/** Begins to work. `input`: whether its program gets one that stays open. */
export function beginJob(
  call: JobCall,
  work: (io: JobIo) => Promise<ToolResult>,
  { input, listenedBefore }: { input: boolean; listenedBefore?: Promise<Listeners | undefined> },
): Job {
  const id = newId();
  const startedAt = Date.now();
  const stopping = new AbortController();
  const listeners = new Set<(line: string | undefined) => void>();
  let lastLine: string | undefined;
  let output: { sink: OutputSink; command: string; folder: string | undefined } | undefined;
  let taken: ProgramInput | undefined;
  let why: 'stopped' | 'timed_out' | undefined;
  let ending: Ending | undefined;
  let endedAt: number | undefined;
  let begin = () => {};
  const begun = new Promise<void>((resolve) => (begin = resolve));

  const tell = (line: string | undefined) => {
    for (const listener of listeners) listener(line);
  };
  const io: JobIo = {
    signal: stopping.signal,
    progress(line) {
      lastLine = line;
      begin();
      tell(line);
    },
    keeps(sink, command, folder) {
      output = { sink, command, folder };
      begin();
      return {
        handle: sink.handle,
        add(stream, chunk) {
          sink.add(stream, chunk);
          tell(undefined);
        },
        end: () => sink.end(),
      };
    },
    ...(input && { takeInput: (program: ProgramInput) => void (taken = program) }),
  };
  const finish = (how: Ending) => {
    ending = how;
    endedAt = Date.now();
    taken = undefined;
    // What a tool forgot to end: nothing more comes.
    output?.sink.end();
    begin();
  };
  // Not at once: who begins it has to know it first.
  const ended = Promise.resolve()
    .then(() => work(io))
    .then(
      (result) => finish({ result }),
      (error: unknown) => finish({ error }),
    );

  const state = (): JobState => {
    if (!ending) return 'running';
    if (why !== undefined) return why;
    return 'error' in ending || ending.result.isError ? 'failed' : 'done';
  };

  return {
    call,
    id,
    ended,
    begun,
    announced: false,
    delivered: false,
    ...(listenedBefore && { listenedBefore }),
    facts() {
      return {
        id,
        tool: call.tool,
        title: call.title,
        state: state(),
        startedAt,
        seconds: Math.round(((endedAt ?? Date.now()) - startedAt) / 100) / 10,
        ...(output && { command: output.command, output: output.sink.handle }),
        ...(output?.folder !== undefined && { folder: output.folder }),
        ...(lastLine !== undefined && { lastLine }),
      };
    },
    result() {
      if (!ending) throw new Error(`job ${id} has not ended`);
      this.delivered = true;
      if ('error' in ending) throw ending.error;
      return ending.result;
    },
    end(reason) {
      if (ending) return;
      why ??= reason;
      stopping.abort();
    },
    write(text, isLast) {
      if (!input)
        throw new ToolcribError(
          'ARG_INVALID',
          `job: ${id} takes no input.`,
          'Start it by start_job with input=true.',
        );
      const written = text === '' ? taken !== undefined : taken?.write(text);
      if (!written)
        throw new ToolcribError(
          'NOT_FOUND',
          `job: nothing reads the input of ${id}: its program has not started, has ended, or does not listen.`,
          'read_job tells how it is.',
        );
      if (isLast) taken?.end();
    },
    watch(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}
