import type { Platform } from '../../core/discoverer.ts';
import { collect, type Collected } from '../output.ts';
import { asStarted, endTree, killGroup, reasonOf, runMarker, start } from './child.ts';
import type { Child, Started } from './child.ts';
import { endOfPipe, listen, type PipeCommand } from './pipe.ts';
import { createWatchdog } from './watchdog.ts';

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

export type Processes = ReturnType<typeof createProcesses>;

const defaultKeepBytes = 256 * 1024;

/** The only place where programs are started. */
export function createProcesses(platform: Platform) {
  const { begin, gone, end, endAll } = watchedPrograms(platform);
  return {
    /**
     * Runs a program, or a pipe of them, without a shell, in sessions of their own (no terminal), the input closed.
     * Rejects only with ARG_INVALID, for an argument that no Windows batch file can be given. When it returns, their
     * process groups are gone; on timeout and cancellation everything they started is.
     */
    async run(command: Command): Promise<Outcome> {
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
    /**
     * Starts a program that opens a window, or serves, and leaves it running: nothing reads what it prints. The
     * outcome is that of its first second: a failure is told, and what still runs then has `exited` with code 0.
     */
    leave: (command: Left) => leaveRunning(command, platform),
    /** Ends everything that is still running, and what it started. */
    endAll,
  };
}

/** Programs that run, of which nothing is left when they are gone, or this process is. */
function watchedPrograms(platform: Platform) {
  /** The id of each program that runs, by its mark. */
  const running = new Map<string, number>();
  const watch = createWatchdog(runMarker, running);
  const markOf = ({ pid }: Child) => [...running].find(([, id]) => id === pid)?.[0] ?? '';

  async function begin(started: Started, given: Parameters<typeof start>[1], lasts?: boolean) {
    const mark = globalThis.crypto.randomUUID();
    running.set(mark, 0);
    watch(lasts);
    const child = await start(started, given, mark);
    if (child instanceof Error) running.delete(mark);
    else running.set(mark, child.pid);
    watch(lasts);
    return child;
  }

  function gone(child: Child): void {
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.destroy();
    if (platform !== 'win32') killGroup(child.pid);
    running.delete(markOf(child));
    watch();
  }

  const end = (children: readonly Child[]) =>
    endTree([...running].filter(([, id]) => children.some(({ pid }) => pid === id)));

  return { begin, gone, end, endAll: () => endTree([...running].filter(([, pid]) => pid > 0)) };
}

type Left = Pick<Command, 'program' | 'argv' | 'cwd' | 'env'>;

async function leaveRunning({ program, argv, ...given }: Left, platform: Platform): Promise<Outcome> {
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
