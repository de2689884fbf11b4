import type { ChildProcess, ChildProcessByStdio } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import type { Platform } from '../../core/discoverer.ts';
import type { OutputSink, ProgramInput } from '../../core/tool.ts';
import { collect, lastLineOf, type Collected } from '../output.ts';
import { endFamily, linuxFamily, listedFamily } from './process-tree.ts';
import { createWatchdog } from './watchdog.ts';
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
  /** It may go on for long: nothing of it is left when this process dies, also in its first moment. */
  readonly lasts?: boolean;
  /** Gets every chunk of both streams, whatever else is done with it. */
  readonly sink?: OutputSink | undefined;
  /** Gets the program's input, which then stays open; left out: it is empty, and who reads it is told its end. */
  readonly takeInput?: ((input: ProgramInput) => void) | undefined;
  /** Called with the last whole line of what has just come, blank ones left out. */
  readonly onLine?: (line: string) => void;
  /** Called with each piece of standard output; none is then kept. False: no more is read. Must not throw. */
  readonly onOutput?: (chunk: Buffer) => boolean;
  /** How many bytes of each stream to keep, half from its head and half from its tail. */
  readonly keepBytes?: number;
}

/** What became of a program. A failing one is an outcome, not an exception. */
export interface Outcome {
  readonly exitCode: number | null;
  readonly stdout: Collected;
  readonly stderr: Collected;
  readonly durationMs: number;
  readonly ended: 'exited' | 'timed_out' | 'cancelled' | 'not_started';
}

export type Run = (command: Command) => Promise<Outcome>;

export interface Processes {
  /**
   * Runs one program without a shell, in a session of its own (no terminal), its input closed. Rejects only with
   * ARG_INVALID, for an argument that no Windows batch file can be given. When it returns, the program's process group
   * is gone; on timeout and cancellation everything it started is.
   */
  readonly run: Run;
  /**
   * Starts a program that opens a window, or serves, and leaves it running: nothing reads what it prints. The
   * outcome is that of its first second: a failure is told, and what still runs then has `exited` with code 0.
   */
  readonly leave: (command: Pick<Command, 'program' | 'argv' | 'cwd' | 'env'>) => Promise<Outcome>;
  /** Ends everything that is still running, and what it started. */
  endAll(): Promise<void>;
}

/** Every child carries this variable; what it starts inherits it, wherever it moves in the process tree. */
export const runMarker = 'TOOLCRIB_RUN';

/** How long a call may take: clients give up at 60 s. */
const callBudgetMs = 45_000;
const defaultKeepBytes = 256 * 1024;
/** How long output may still arrive after the program has ended, when a child of it keeps the pipe open. */
const drainMs = 200;
/** The server has one second in all to leave. */
const endMs = 900;
/** As much as may wait to be read by a program, bytes. */
const mostInput = 1024 * 1024;

/** The only place where programs are started. */
export function createProcesses(platform: Platform): Processes {
  /** The mark of each program that runs, by its id. */
  const running = new Map<number, string>();
  const watchdog = createWatchdog(runMarker);
  return {
    async run(command) {
      const { program, argv, signal, lasts, keepBytes = defaultKeepBytes } = command;
      const startedAt = performance.now();
      const stdout = collect(keepBytes);
      const stderr = collect(keepBytes);
      const outcome = (exitCode: number | null, ended: Outcome['ended']): Outcome => ({
        exitCode,
        stdout: stdout.finish(),
        stderr: stderr.finish(),
        durationMs: Math.round(performance.now() - startedAt),
        ended,
      });
      if (signal?.aborted) return outcome(null, 'cancelled');
      const started = asStarted(program, argv, platform);
      const mark = globalThis.crypto.randomUUID();
      watchdog.starts(mark, lasts);
      const child = await start(started, command, mark);
      if (child instanceof Error) {
        watchdog.ended(mark);
        stderr.add(Buffer.from(reasonOf(child)));
        return outcome(null, 'not_started');
      }
      const { pid } = child;
      running.set(pid, mark);
      watchdog.runs(mark, pid);
      listen(child, command, stdout.add, stderr.add);
      const end = await ended(child, command, () => endTree([[pid, mark]]));
      for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.destroy();
      // A background child the program left in its own group must not outlive the call.
      if (end.how === 'exited' && platform !== 'win32') killGroup(pid);
      running.delete(pid);
      watchdog.ended(mark);
      return outcome(end.exitCode, end.how);
    },
    async leave(command) {
      const startedAt = performance.now();
      const child = await start(asStarted(command.program, command.argv, platform), command);
      const failed = child instanceof Error;
      const exitCode = failed ? null : await firstSecond(child);
      const stderr = collect(defaultKeepBytes);
      if (failed) stderr.add(Buffer.from(reasonOf(child)));
      return {
        exitCode,
        stdout: collect(0).finish(),
        stderr: stderr.finish(),
        durationMs: Math.round(performance.now() - startedAt),
        ended: failed ? 'not_started' : 'exited',
      };
    },
    endAll: () => endTree([...running]),
  };
}

/** The exit code of a program that has ended within a second; 0 for one that goes on. */
function firstSecond(child: ChildProcess): Promise<number | null> {
  child.unref();
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(0), 1000);
    child.once('exit', (code) => {
      clearTimeout(timer);
      resolve(code);
    });
  });
}

/** Ends programs and everything they started, wherever it went. */
function endTree(programs: readonly (readonly [pid: number, mark: string])[]): Promise<void> {
  const groups = programs.map(([pid]) => pid);
  const marks = programs.map(([, mark]) => `${runMarker}=${mark}`);
  const find = process.platform === 'linux' ? linuxFamily : listedFamily;
  return endFamily(find, { marks, groups }, { leastLooks: 1, mostMs: endMs });
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // ESRCH: nothing of it is left, as usual.
  }
}

type Child = ChildProcessByStdio<Writable | null, Readable, Readable> & { readonly pid: number };

/** Starts it, or tells what kept it from starting. Without a mark, nobody listens to it, or ends it. */
function start(
  { file, args, verbatim }: Started,
  { cwd, env, takeInput }: Pick<Command, 'cwd' | 'env' | 'takeInput'>,
  mark?: string,
): Child | Error | Promise<Error> {
  // Not at the beginning of the file: the server starts without it.
  const { spawn } = process.getBuiltinModule('node:child_process');
  let child: ChildProcess;
  try {
    child = spawn(file, args, {
      cwd,
      env: mark === undefined ? env : { ...env, [runMarker]: mark },
      // A session of its own: it can be ended whole and has no terminal to ask at. On Windows it would open a window.
      detached: process.platform !== 'win32',
      stdio: mark === undefined ? 'ignore' : [takeInput ? 'pipe' : 'ignore', 'pipe', 'pipe'],
      windowsHide: true,
      windowsVerbatimArguments: verbatim,
    });
  } catch (error) {
    return error as Error;
  }
  // Why there is no process is told in the next turn; with too many open files there are no streams either.
  if (child.pid === undefined) return new Promise((resolve) => child.once('error', resolve));
  // Without a listener Node would throw it.
  child.on('error', () => undefined);
  return child as Child;
}

/** Why a program could not be started, with a way out where that is not the program. */
function reasonOf({ message, code }: NodeJS.ErrnoException): string {
  if (code === 'EMFILE' || code === 'ENFILE')
    return `${message}: too many files are open. End other programs and jobs, or raise the limit (ulimit -n).`;
  if (code === 'EAGAIN' || code === 'ENOMEM')
    return `${message}: there are too many processes, or there is no memory. End other programs and jobs.`;
  return message;
}

type Add = (chunk: Buffer) => void;

/** Hands on what a program prints, and gives its input to who wants it. */
function listen(
  { stdin, stdout, stderr }: Child,
  { onLine, onOutput, sink, takeInput }: Command,
  keepOutput: Add,
  keepErrors: Add,
): void {
  const lastLine = onLine && lastLineOf(onLine);
  stdout.on('data', (chunk: Buffer) => {
    sink?.add('stdout', chunk);
    lastLine?.(chunk);
    if (!onOutput) keepOutput(chunk);
    else if (!onOutput(chunk)) stdout.destroy();
  });
  const lastError = onLine && lastLineOf(onLine);
  stderr.on('data', (chunk: Buffer) => {
    sink?.add('stderr', chunk);
    lastError?.(chunk);
    keepErrors(chunk);
  });
  if (!stdin) return;
  // EPIPE: the program has ended, or closed its input.
  stdin.on('error', () => stdin.destroy());
  takeInput?.({
    write(text) {
      if (!stdin.writable || stdin.writableLength + text.length > mostInput) return false;
      stdin.write(text);
      return true;
    },
    end: () => void stdin.end(),
  });
}

/** Waits for the program to end by itself, at its time limit, or when the caller gives up. */
function ended(
  child: Child,
  { timeoutMs = callBudgetMs, signal }: Command,
  stop: () => Promise<void>,
): Promise<{ how: 'exited' | 'timed_out' | 'cancelled'; exitCode: number | null }> {
  return new Promise((resolve) => {
    let exitCode: number | null = null;
    let how: 'exited' | 'timed_out' | 'cancelled' = 'exited';
    let draining: NodeJS.Timeout | undefined;
    const finish = () => {
      clearTimeout(timer);
      clearTimeout(draining);
      signal?.removeEventListener('abort', cancel);
      resolve({ how, exitCode });
    };
    const stopFor = (why: typeof how) => {
      if (how !== 'exited') return;
      how = why;
      void stop().then(finish);
    };
    const cancel = () => stopFor('cancelled');
    const timer = setTimeout(() => stopFor('timed_out'), timeoutMs);
    signal?.addEventListener('abort', cancel, { once: true });
    // It may have come while the program was started: then nobody calls.
    if (signal?.aborted) cancel();
    const finishUnlessStopped = () => {
      if (how === 'exited') finish();
    };
    child.once('exit', (code) => {
      exitCode = code;
      // A busy process comes to its timers before it looks at the pipes again: what is in them by then is read first.
      draining = setTimeout(() => setImmediate(finishUnlessStopped), drainMs);
    });
    child.once('close', finishUnlessStopped);
  });
}
