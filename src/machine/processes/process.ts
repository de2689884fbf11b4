import type { ChildProcess } from 'node:child_process';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Platform } from '../../core/discoverer.ts';
import { printable } from '../../core/argv.ts';
import type { OutputSink, ProgramInput } from '../../core/tool.ts';
import { createTurns } from '../limited.ts';
import { collect, type Collected } from '../output.ts';
import { endGroup, endProcessTree, runMarker } from './process-tree.ts';
import { programInput } from './program-input.ts';
import { createWatchdog, type Watchdog } from './watchdog.ts';
import { asStarted, type Started } from './windows-command.ts';

export interface Command {
  /** Absolute path: a bare name would be looked up again, perhaps in the working directory. */
  readonly program: string;
  readonly argv: readonly string[];
  readonly cwd: string;
  /** The child's whole environment: nothing is inherited. */
  readonly env: Readonly<Record<string, string>>;
  /** How long it may take, 45 s when left out. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  /** It may go on for long, or start what does: nothing of it is left whenever this process dies, also in its first moment. */
  readonly lasts?: boolean;
  /** Called when it had to wait for its turn, and things may have changed; what it throws keeps it from starting, and is thrown. */
  readonly afterWait?: () => Promise<void>;
  /** Gets every chunk of both streams, whatever else is done with it. */
  readonly sink?: OutputSink;
  /** Gets the program's input, which then stays open; left out: it is empty, and a program that asks is told its end. */
  readonly takeInput?: (input: ProgramInput) => void;
  /** Called with each line of output as it appears, blank ones left out. */
  readonly onLine?: (line: string) => void;
  /** Called with each piece of standard output as it comes; none is then kept. False: no more is read. Must not throw. */
  readonly onOutput?: (chunk: Buffer) => boolean;
  /** How many bytes of each stream to keep, half from its head and half from its tail. */
  readonly keepBytes?: number;
}

/** What became of a program. A failing one is an outcome, not an exception. */
export interface Outcome {
  /** The command line as a person would type it. */
  readonly command: string;
  readonly exitCode: number | null;
  readonly stdout: Collected;
  readonly stderr: Collected;
  readonly durationMs: number;
  readonly ended: 'exited' | 'timed_out' | 'cancelled' | 'not_started';
}

export type Run = (command: Command) => Promise<Outcome>;

export interface Processes {
  /**
   * Runs one program without a shell, in a session of its own (no terminal), its input closed. Never rejects but with what `afterWait`
   * throws. When it returns, the program's process group is gone; on timeout and cancellation everything it started is.
   */
  readonly run: Run;
  /** Ends everything that is still running, and what it started. */
  endAll(): Promise<void>;
}

/** How long a call may take: clients give up at 60 s. */
const callBudgetMs = 45_000;
/** More programs at a time would only wait for each other. */
const atOnce = 16;
const defaultKeepBytes = 256 * 1024;
/** A program that goes on for longer is a build or a server, and gives its turn to the next. */
const shortMs = 2000;
/** A turn that nobody else had comes within a tick or two. */
const noWaitMs = 20;
/** How long output may still arrive after the program has ended, when a child of it keeps the pipe open. */
const drainMs = 200;

interface Running {
  readonly platform: Platform;
  /** The mark of each program that runs, by its id. */
  readonly marks: Map<number, string>;
  readonly watchdog: Watchdog;
}

/** The only place where programs are started. */
export function createProcesses(platform: Platform): Processes {
  const running: Running = { platform, marks: new Map(), watchdog: createWatchdog(platform) };
  const turns = createTurns(atOnce);
  return {
    async run(command) {
      // The wait for a turn counts: the caller has only so much time.
      const { signal, timeoutMs = callBudgetMs } = command;
      const startedAt = performance.now();
      const turn = await turns.take({ signal, timeoutMs });
      const endTurn = turn && once(turn);
      const lasting = endTurn && setTimeout(endTurn, shortMs);
      try {
        if (endTurn && performance.now() - startedAt > noWaitMs) await command.afterWait?.();
        const limited = { ...command, timeoutMs: Math.max(0, timeoutMs - (performance.now() - startedAt)) };
        return await runOne(limited, endTurn !== undefined, running);
      } finally {
        clearTimeout(lasting);
        endTurn?.();
      }
    },
    endAll: async () => {
      await Promise.all([...running.marks].map(([pid, mark]) => endProcessTree(pid, mark, platform)));
    },
  };
}

function once(act: () => void): () => void {
  let done = false;
  return () => {
    if (!done) act();
    done = true;
  };
}

async function runOne(command: Command, itsTurn: boolean, running: Running): Promise<Outcome> {
  const { platform, marks, watchdog } = running;
  const startedAt = performance.now();
  const marker = globalThis.crypto.randomUUID();
  const stdout = collect(command.keepBytes ?? defaultKeepBytes, command.onLine);
  const stderr = collect(command.keepBytes ?? defaultKeepBytes, command.onLine);
  const outcome = (exitCode: number | null, how: Outcome['ended']): Outcome => ({
    command: printable([command.program, ...command.argv]),
    exitCode,
    stdout: stdout.finish(),
    stderr: stderr.finish(),
    durationMs: Math.round(performance.now() - startedAt),
    ended: how,
  });
  if (command.signal?.aborted) return outcome(null, 'cancelled');
  if (!itsTurn) return outcome(null, 'timed_out');

  const as = asStarted(command.program, command.argv, platform);
  watchdog.starts(marker, command.lasts);
  const { child, pid, failure } = await started(command, as, marker, platform);
  if (pid === undefined) {
    watchdog.ended(marker);
    stderr.add(Buffer.from(reasonOf(failure)));
    return outcome(null, 'not_started');
  }

  marks.set(pid, marker);
  watchdog.runs(marker, pid);
  const { onOutput, sink } = command;
  child.stdout.on('data', (chunk: Buffer) => {
    sink?.add('stdout', chunk);
    if (!onOutput) stdout.add(chunk);
    else if (!onOutput(chunk)) child.stdout.destroy();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    sink?.add('stderr', chunk);
    stderr.add(chunk);
  });
  if (child.stdin) command.takeInput?.(programInput(child.stdin));
  const end = await ended(child, command, () => endProcessTree(pid, marker, platform));
  for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.destroy();
  // A background child the program left in its own group must not outlive the call.
  if (end.how === 'exited') endGroup(pid, platform);
  marks.delete(pid);
  watchdog.ended(marker);
  return outcome(end.exitCode, end.how);
}

/** Starts it. What kept it from starting is returned: execa and Node tell that in three ways. */
async function started(
  command: Command,
  { file, args, verbatim }: Started,
  marker: string,
  platform: Platform,
) {
  const { execa } = await import('execa');
  let failure: Error | undefined;
  // With too many open files Node makes a child without streams, at which execa throws before it listens for the error.
  const listen = (message: unknown) =>
    (message as { process: ChildProcess }).process.on('error', (error) => (failure = error));
  subscribe('child_process', listen);
  try {
    const child = execa(file, args, {
      cwd: command.cwd,
      env: { ...command.env, [runMarker]: marker },
      extendEnv: false,
      // A session of its own: it can be ended whole and has no terminal to ask at. On Windows it would open a window.
      detached: platform !== 'win32',
      stdin: command.takeInput ? 'pipe' : 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
      buffer: false,
      reject: false,
      cleanup: false,
      windowsHide: true,
      windowsVerbatimArguments: verbatim,
    });
    const { pid } = child;
    // Not by itself: it is a promise of its own.
    if (pid !== undefined) return { child, pid };
    const { originalMessage, code } = await child;
    return { failure: Object.assign(new Error(originalMessage ?? 'could not be started'), { code }) };
  } catch (error) {
    // Node tells the reason in its next turn.
    await new Promise((resolve) => setImmediate(resolve));
    return { failure: failure ?? (error as Error) };
  } finally {
    unsubscribe('child_process', listen);
  }
}

/** Why a program could not be started, with a way out where that is not the program. */
function reasonOf({ message, code }: NodeJS.ErrnoException): string {
  if (code === 'EMFILE' || code === 'ENFILE')
    return `${message}: too many files are open. End other programs and jobs, or raise the limit of the server (ulimit -n).`;
  if (code === 'EAGAIN' || code === 'ENOMEM')
    return `${message}: there are too many processes, or there is no memory. End other programs and jobs.`;
  return message;
}

interface Child {
  once(event: 'exit', listener: (code: number | null) => void): unknown;
  once(event: 'close', listener: () => void): unknown;
}

/** Waits for the program to end by itself, at its time limit, or when the caller gives up. */
function ended(
  child: Child,
  { timeoutMs = callBudgetMs, signal }: Pick<Command, 'timeoutMs' | 'signal'>,
  stop: () => Promise<void>,
) {
  type How = 'exited' | 'timed_out' | 'cancelled';
  return new Promise<{ how: How; exitCode: number | null }>((resolve) => {
    let exitCode: number | null = null;
    let stopping = false;
    const finish = (how: How) => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', cancel);
      resolve({ how, exitCode });
    };
    const stopFor = (why: How) => {
      if (stopping) return;
      stopping = true;
      void stop().then(() => finish(why));
    };
    const cancel = () => stopFor('cancelled');
    const timer = setTimeout(() => stopFor('timed_out'), timeoutMs);
    signal?.addEventListener('abort', cancel, { once: true });
    child.once('exit', (code) => {
      exitCode = code;
      // A busy process comes to its timers before it looks at the pipes again: what is in them by then is read first.
      if (!stopping) setTimeout(() => setImmediate(() => !stopping && finish('exited')), drainMs);
    });
    child.once('close', () => {
      if (!stopping) finish('exited');
    });
  });
}
