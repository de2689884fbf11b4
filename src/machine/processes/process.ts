import type { Platform } from '../../core/discoverer.ts';
import { collect, type Collected } from '../output.ts';
import { endTree, killGroup, reasonOf, runMarker, start, type Child } from './child.ts';
import { endOfPipe, listen, type PipeCommand } from './pipe.ts';
import { createWatchdog } from './watchdog.ts';
import { asStarted, type Started } from './windows-command.ts';

export interface Command extends PipeCommand {
  readonly cwd: string;
  /** It may go on for long: nothing of it is left when this process dies, also in its first moment. */
  readonly lasts?: boolean;
  /** How many bytes of each stream to keep, half from its head and half from its tail. */
  readonly keepBytes?: number;
}

/** What became of a program. A failing one is an outcome, not an exception. */
export interface Outcome {
  /** Null when a signal ended it. Of a pipe: of the last program that failed, or 0. */
  readonly exitCode: number | null;
  /** The place of that program in the pipe. */
  readonly stage?: number;
  readonly stdout: Collected;
  readonly stderr: Collected;
  readonly durationMs: number;
  readonly ended: 'exited' | 'timed_out' | 'cancelled' | 'not_started';
}

export type Run = (command: Command) => Promise<Outcome>;

export interface Processes {
  /**
   * Runs a program, or a pipe of them, without a shell, in sessions of their own (no terminal), the input closed.
   * Rejects only with ARG_INVALID, for an argument that no Windows batch file can be given. When it returns, their
   * process groups are gone; on timeout and cancellation everything they started is.
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

const defaultKeepBytes = 256 * 1024;

/** The only place where programs are started. */
export function createProcesses(platform: Platform): Processes {
  const { begin, gone, end, endAll } = watchedPrograms(platform);
  return {
    async run(command) {
      const { signal, lasts, cwd, pipe = [], keepBytes = defaultKeepBytes } = command;
      const startedAt = performance.now();
      const stdout = collect(keepBytes);
      const stderr = collect(keepBytes);
      const outcome = (exitCode: number | null, ended: Outcome['ended'], stage = 0): Outcome => ({
        exitCode,
        stage,
        stdout: stdout.finish(),
        stderr: stderr.finish(),
        durationMs: Math.round(performance.now() - startedAt),
        ended,
      });
      if (signal?.aborted) return outcome(null, 'cancelled');
      const stages = [command, ...pipe];
      const started = stages.map(({ program, argv }) => asStarted(program, argv, platform));
      const children: Child[] = [];
      for (const [at, { env }] of stages.entries()) {
        const hasInput = at > 0 || command.takeInput !== undefined;
        const child = await begin(started[at] as Started, { cwd, env, hasInput }, lasts);
        if (child instanceof Error) {
          stderr.add(Buffer.from(reasonOf(child)));
          if (at > 0) await end(children);
          for (const one of children) gone(one);
          return outcome(null, 'not_started', at);
        }
        children.push(child);
      }
      const unread = listen(children, command, stdout.add, stderr.add);
      const { exitCode, how, stage } = await endOfPipe(children, command, unread, { end, gone });
      return outcome(exitCode, how, stage);
    },
    leave: (command) => leaveRunning(command, platform),
    endAll,
  };
}

/** Programs that run, of which nothing is left when they are gone, or this process is. */
function watchedPrograms(platform: Platform) {
  /** The mark of each program that runs, by its id. */
  const running = new Map<number, string>();
  const watchdog = createWatchdog(runMarker);

  async function begin(started: Started, given: Parameters<typeof start>[1], lasts?: boolean) {
    const mark = globalThis.crypto.randomUUID();
    watchdog.starts(mark, lasts);
    const child = await start(started, given, mark);
    if (child instanceof Error) {
      watchdog.ended(mark);
      return child;
    }
    running.set(child.pid, mark);
    watchdog.runs(mark, child.pid);
    return child;
  }

  function gone({ pid, stdin, stdout, stderr }: Child): void {
    for (const stream of [stdin, stdout, stderr]) stream?.destroy();
    if (platform !== 'win32') killGroup(pid);
    watchdog.ended(running.get(pid) ?? '');
    running.delete(pid);
  }

  const end = (children: readonly Child[]) =>
    endTree([...running].filter(([id]) => children.some(({ pid }) => pid === id)));

  return { begin, gone, end, endAll: () => endTree([...running]) };
}

async function leaveRunning(
  { program, argv, ...given }: Parameters<Processes['leave']>[0],
  platform: Platform,
): Promise<Outcome> {
  const startedAt = performance.now();
  const child = await start(asStarted(program, argv, platform), given);
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
}

/** The exit code of a program that has ended within a second; 0 for one that goes on. */
function firstSecond(child: Child): Promise<number | null> {
  child.unref();
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(0), 1000);
    child.once('exit', (code) => {
      clearTimeout(timer);
      resolve(code);
    });
  });
}
