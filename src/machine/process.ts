import type { Platform } from '../core/discoverer.ts';
import { printable } from '../core/argv.ts';
import { createTurns } from './limited.ts';
import { collect, type Collected } from './output.ts';
import { endGroup, endProcessTree, runMarker } from './process-tree.ts';
import { asStarted } from './windows-command.ts';

export interface Command {
  /** Absolute path: a bare name would be looked up again, perhaps in the working directory. */
  readonly program: string;
  readonly argv: readonly string[];
  readonly cwd: string;
  /** The child's whole environment: nothing is inherited. */
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
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
   * Runs one program without a shell, in a session of its own (no terminal), its input closed. Never rejects. When
   * it returns, the program's process group is gone; on timeout and cancellation everything it started is.
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
/** How long output may still arrive after the program has ended, when a child of it keeps the pipe open. */
const drainMs = 200;

/** The only place where programs are started. */
export function createProcesses(platform: Platform): Processes {
  const running = new Map<number, string>();
  const turns = createTurns(atOnce);
  return {
    async run(command) {
      // The wait for a turn counts: the caller has only so much time.
      const { signal, timeoutMs = callBudgetMs } = command;
      const startedAt = performance.now();
      const endTurn = await turns.take({ signal, timeoutMs });
      try {
        const limited = { ...command, timeoutMs: Math.max(0, timeoutMs - (performance.now() - startedAt)) };
        return await runOne(limited, endTurn !== undefined, platform, running);
      } finally {
        endTurn?.();
      }
    },
    endAll: async () => {
      await Promise.all([...running].map(([pid, marker]) => endProcessTree(pid, marker, platform)));
    },
  };
}

async function runOne(
  command: Command,
  itsTurn: boolean,
  platform: Platform,
  running: Map<number, string>,
): Promise<Outcome> {
  const { execa } = await import('execa');
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

  const { file, args, verbatim } = asStarted(command.program, command.argv, platform);
  const child = execa(file, args, {
    cwd: command.cwd,
    env: { ...command.env, [runMarker]: marker },
    extendEnv: false,
    // A session of its own: it can be ended whole and has no terminal to ask at. On Windows it would open a window.
    detached: platform !== 'win32',
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
    buffer: false,
    reject: false,
    cleanup: false,
    windowsHide: true,
    windowsVerbatimArguments: verbatim,
  });
  const { pid } = child;
  if (pid === undefined) {
    const failure = await child;
    stderr.add(Buffer.from(failure.originalMessage ?? 'could not be started'));
    return outcome(null, 'not_started');
  }

  running.set(pid, marker);
  const { onOutput } = command;
  child.stdout.on('data', onOutput ? (chunk) => onOutput(chunk) || child.stdout.destroy() : stdout.add);
  child.stderr.on('data', stderr.add);
  const end = await ended(child, command, () => endProcessTree(pid, marker, platform));
  child.stdout.destroy();
  child.stderr.destroy();
  // A background child the program left in its own group must not outlive the call.
  if (end.how === 'exited') endGroup(pid, platform);
  running.delete(pid);
  return outcome(end.exitCode, end.how);
}

interface Child {
  once(event: 'exit', listener: (code: number | null) => void): unknown;
  once(event: 'close', listener: () => void): unknown;
}

/** Waits for the program to end by itself, at its time limit, or when the caller gives up. */
function ended(child: Child, { timeoutMs = callBudgetMs, signal }: Command, stop: () => Promise<void>) {
  return new Promise<{ how: 'exited' | 'timed_out' | 'cancelled'; exitCode: number | null }>((resolve) => {
    let exitCode: number | null = null;
    let stopping = false;
    const finish = (how: 'exited' | 'timed_out' | 'cancelled') => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', cancel);
      resolve({ how, exitCode });
    };
    const stopFor = (why: 'timed_out' | 'cancelled') => {
      if (stopping) return;
      stopping = true;
      void stop().then(() => finish(why));
    };
    const cancel = () => stopFor('cancelled');
    const timer = setTimeout(() => stopFor('timed_out'), timeoutMs);
    signal?.addEventListener('abort', cancel, { once: true });
    child.once('exit', (code) => {
      exitCode = code;
      if (!stopping) setTimeout(() => !stopping && finish('exited'), drainMs);
    });
    child.once('close', () => {
      if (!stopping) finish('exited');
    });
  });
}
