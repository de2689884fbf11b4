import type { Readable, Writable } from 'node:stream';
import type { Platform } from '../../core/discoverer.ts';
import type { OutputSink, ProgramInput } from '../../core/tool.ts';
import { collect, lastLineOf, type Collector } from '../output.ts';
import { asStarted, reasonOf, type StartOptions } from './child.ts';
import type { Command, Outcome } from './command.ts';
import { endLeftBehind } from './left-behind.ts';
import type { Excess } from './memory-limit.ts';
import type { WatchedProgram, WatchedPrograms } from './watched-programs.ts';

/** The time a call may take: clients give up at 60 s. */
const callBudgetMs = 45_000;
/** The time output may still take to come when a program has ended and a child of it keeps the pipe open. */
const drainMs = 200;
/** Bytes that may wait for a program to read them, of what is written while it runs. */
const mostInput = 1024 * 1024;
const defaultKeepBytes = 256 * 1024;

/** Runs one program without a shell, and waits for its end. */
export async function runProgram(
  command: Command,
  platform: Platform,
  programs: WatchedPrograms,
): Promise<Outcome> {
  const { cwd, env } = command;
  const recording = startRecording(command);
  if (command.signal?.aborted) return outcomeOf(recording, { exitCode: null, ended: 'cancelled' });
  const started = command.startByPackage ?? asStarted(command.program, command.argv, platform);
  const options: StartOptions = { cwd, env, stdin: stdinOf(command), output: 'pipe' };
  const program = await programs.start(started, options, command.lasts);
  if (program instanceof Error) return notStarted(recording, program);

  const { subprocess } = program;
  readStream(subprocess.stdout, 'stdout', command, recording);
  readStream(subprocess.stderr, 'stderr', command, recording);
  if (subprocess.stdin) giveInput(subprocess.stdin, command);

  const interruption = interruptionOf(command, () => programs.end([program]));
  programs.memory.watch(program.pid, interruption.exceed);
  await Promise.race([endOf(program), interruption.over]);
  if (interruption.reason) await interruption.over;
  interruption.disarm();
  programs.release(program);
  const { reason = 'exited', excess } = interruption;
  const leftRunning = reason === 'exited' ? await endLeftBehind([program]) : [];
  return outcomeOf(recording, { exitCode: subprocess.exitCode, ended: reason, excess, leftRunning });
}

/** The beginning of a run, and the part of its output that is kept. */
export interface Recording {
  readonly startedAt: number;
  readonly stdout: Collector;
  readonly stderr: Collector;
  readonly sink: OutputSink | undefined;
}

export const startRecording = ({ keepBytes = defaultKeepBytes, sink }: Partial<Command>): Recording => ({
  startedAt: performance.now(),
  stdout: collect(keepBytes),
  stderr: collect(keepBytes),
  sink,
});

/** Reads a stream: each chunk goes to the sink and to `onLine`, and is kept or goes to `onOutput`. */
export function readStream(
  stream: Readable,
  name: 'stdout' | 'stderr',
  { sink, onLine, onOutput }: Command,
  recording: Recording,
): void {
  const findLastLine = onLine && lastLineOf(onLine);
  const take = name === 'stdout' ? onOutput : undefined;
  stream.on('data', (chunk: Buffer) => {
    sink?.add(name, chunk);
    findLastLine?.(chunk);
    if (!take) recording[name].add(chunk);
    else if (!take(chunk)) stream.destroy();
  });
}

type Input = Pick<Command, 'wholeInput' | 'takeInput'>;

/** The standard input with which a program is started. */
export const stdinOf = ({ wholeInput, takeInput }: Input): 'pipe' | 'ignore' =>
  wholeInput !== undefined || takeInput ? 'pipe' : 'ignore';

/** Gives a program its whole input, as fast as it reads; or hands its input over, and leaves it open. */
export function giveInput(stdin: Writable, { wholeInput, takeInput }: Input): void {
  // EPIPE: the program has ended, or closed its input.
  stdin.on('error', () => stdin.destroy());
  if (wholeInput === undefined) takeInput?.(inputOf(stdin));
  else stdin.end(wholeInput);
}

/** The open input of a program. */
function inputOf(stdin: Writable): ProgramInput {
  return {
    write(text) {
      if (!stdin.writable || stdin.writableLength + text.length > mostInput) return false;
      stdin.write(text);
      return true;
    },
    end() {
      stdin.end();
    },
  };
}

/** Resolves when a program has ended and printed all; its children may print on, and are not waited for. */
export function endOf({ subprocess, closed }: WatchedProgram): Promise<void> {
  return new Promise((resolve) => {
    closed.then(() => resolve());
    subprocess.once('exit', () => {
      // A busy process comes to its timers before it looks at the pipes again: what is in them is read first.
      setTimeout(() => setImmediate(resolve), drainMs).unref();
    });
  });
}

/** The end of a run before its programs end by themselves. */
export interface Interruption {
  /** Undefined as long as nothing interrupts. */
  reason?: 'timed_out' | 'cancelled' | 'out_of_memory';
  /** The memory that a program held, if that is the reason. */
  excess?: Excess;
  /** Resolves when everything has been ended; without a reason, never. */
  readonly over: Promise<void>;
  /** Interrupts a run of which a program holds too much memory. */
  readonly exceed: (excess: Excess) => void;
  /** Waits for neither time limit nor caller any more. */
  disarm(): void;
}

/**
 * Calls `end` at the time limit, when the caller gives up, or for memory. execa's own `timeout` and
 * `cancelSignal` end the program alone, and its children could then no longer be found.
 */
export function interruptionOf(
  { timeoutMs = callBudgetMs, signal }: Command,
  end: () => Promise<void>,
): Interruption {
  let resolveOver = () => {};
  const over = new Promise<void>((resolve) => {
    resolveOver = resolve;
  });
  const interrupt = (reason: NonNullable<Interruption['reason']>) => {
    if (interruption.reason) return;
    interruption.reason = reason;
    void end().then(resolveOver);
  };
  const cancel = () => interrupt('cancelled');
  const timer = setTimeout(interrupt, timeoutMs, 'timed_out');
  const interruption: Interruption = {
    over,
    exceed(excess) {
      interruption.excess ??= excess;
      interrupt('out_of_memory');
    },
    disarm() {
      clearTimeout(timer);
      signal?.removeEventListener('abort', cancel);
    },
  };
  signal?.addEventListener('abort', cancel, { once: true });
  // It may have come while the programs were started: then nobody calls.
  if (signal?.aborted) cancel();
  return interruption;
}

/** The end of a run, as far as its recording does not say it. */
interface End extends Pick<Outcome, 'exitCode' | 'ended' | 'stage'> {
  readonly excess?: Excess | undefined;
  /** Names of programs that it has left running, which were ended. */
  readonly leftRunning?: readonly string[];
}

export function outcomeOf({ startedAt, stdout, stderr, sink }: Recording, end: End): Outcome {
  const { exitCode, ended, stage = 0, excess, leftRunning = [] } = end;
  const outcome: Outcome = {
    // A program that is told to end may do so as if it were done.
    exitCode: excess ? null : exitCode,
    stage,
    stdout: stdout.finish(),
    stderr: stderr.finish(),
    durationMs: Math.round(performance.now() - startedAt),
    ended,
  };
  if (!excess && leftRunning.length === 0) return outcome;
  const note = excess ? tooMuchMemory(excess) : endedToo(leftRunning);
  sink?.add('stderr', Buffer.from(`[${note}]\n`));
  return { ...outcome, note };
}

/** The outcome of a program that could not be started; `stage` is its place in the pipe. */
export function notStarted(recording: Recording, error: Error, stage = 0): Outcome {
  recording.stderr.add(Buffer.from(reasonOf(error)));
  return outcomeOf(recording, { exitCode: null, ended: 'not_started', stage });
}

const gigabytes = (bytes: number): string => `${(bytes / 1e9).toFixed(1)} GB`;

const tooMuchMemory = ({ held, most }: Excess): string =>
  `it was ended, with all it had started: it held ${gigabytes(held)} of memory; a program may hold ` +
  `${gigabytes(most)} here, less when little is left. Do it in smaller parts, or let a person raise ` +
  'budgets.memoryPercent';

const endedToo = (names: readonly string[]): string =>
  `what it left running was ended: ${names.join(', ')}. Start what serves in the foreground, as a job: ` +
  'by run with background: true';
