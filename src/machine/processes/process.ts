import type { Platform } from '../../core/discoverer.ts';
import { usualBudgets } from '../../core/settings.ts';
import { collect, type Collected } from '../output.ts';
import { asStarted, endTree, killGroup, reasonOf, runMarker, start } from './child.ts';
import type { Child, Started } from './child.ts';
import { endLeftBehind } from './left-behind.ts';
import { createMemoryLimit, type Excess } from './memory-limit.ts';
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
  /** `out_of_memory`: it was ended, as it held more than it may. */
  readonly ended: 'exited' | 'timed_out' | 'cancelled' | 'not_started' | 'out_of_memory';
  /** What is to be known of its end beside that; its sink has been told. */
  readonly note?: string;
}

export type Run = (command: Command) => Promise<Outcome>;

export type Processes = ReturnType<typeof createProcesses>;

const defaultKeepBytes = 256 * 1024;

/** The only place where programs are started. `memoryPercent`: how much of the memory one may hold. */
export function createProcesses(platform: Platform, memoryPercent = usualBudgets.memoryPercent) {
  const programs = watchedPrograms(platform, memoryPercent);
  return {
    /**
     * Runs a program, or a pipe of them, without a shell, in sessions of their own (no terminal), the input
     * closed. Rejects only with ARG_INVALID, for an argument that no Windows batch file can be given. When it
     * returns, all that they have started is gone; where no system tells what that is, their process groups.
     */
    run: (command: Command) => runPipe(command, platform, programs),
    /**
     * Starts a program that opens a window in which a person works, and leaves it to them: nothing reads what
     * it prints. The outcome is that of its first second: a failure is told, and what still runs then has
     * `exited` with code 0.
     */
    leave: (command: Left) => leaveRunning(command, platform),
    /** Ends everything that is still running, and what it started. */
    endAll: programs.endAll,
  };
}

type WatchedPrograms = ReturnType<typeof watchedPrograms>;

async function runPipe(command: Command, platform: Platform, programs: WatchedPrograms): Promise<Outcome> {
  const { signal, keepBytes = defaultKeepBytes } = command;
  const startedAt = performance.now();
  const stdout = collect(keepBytes);
  const stderr = collect(keepBytes);
  const outcome = (
    exitCode: number | null,
    ended: Outcome['ended'],
    more: Pick<Outcome, 'stage' | 'note'> = { stage: 0 },
  ): Outcome => ({
    exitCode,
    stdout: stdout.finish(),
    stderr: stderr.finish(),
    durationMs: Math.round(performance.now() - startedAt),
    ended,
    ...more,
  });
  if (signal?.aborted) return outcome(null, 'cancelled');
  const { children, failure } = await beginPipe(command, platform, programs);
  if (failure) {
    stderr.add(Buffer.from(reasonOf(failure)));
    return outcome(null, 'not_started', { stage: children.length });
  }
  const marks = programs.marksOf(children);
  const unread = listen(children, command, stdout.add, stderr.add);
  let excess: Excess | undefined;
  const { exitCode, how, stage } = await endOfPipe(children, command, unread, {
    ...programs,
    limited: ({ pid }, stop) =>
      programs.limit.watch(pid, (found) => {
        excess ??= found;
        stop();
      }),
  });
  const left = how === 'exited' ? await endLeftBehind({ marks, children }) : [];
  const note = excess ? tooMuch(excess) : left.length > 0 ? leftRunning(left) : undefined;
  if (note !== undefined) command.sink?.add('stderr', Buffer.from(`[${note}]\n`));
  // What is told to end may do so as if it were done.
  return outcome(excess ? null : exitCode, how, { stage, ...(note !== undefined && { note }) });
}

/** Starts the programs of a pipe; when one cannot be, those before it are ended. */
async function beginPipe(
  { cwd, lasts, takeInput, pipe = [], ...first }: Command,
  platform: Platform,
  { begin, end, gone }: WatchedPrograms,
): Promise<{ readonly children: readonly Child[]; readonly failure?: Error }> {
  const stages = [first, ...pipe];
  const started = stages.map(({ program, argv }) => asStarted(program, argv, platform));
  const children: Child[] = [];
  for (const [at, { env }] of stages.entries()) {
    const hasInput = at > 0 || takeInput !== undefined;
    const child = await begin(started[at] as Started, { cwd, env, hasInput }, lasts);
    if (child instanceof Error) {
      if (at > 0) await end(children);
      for (const one of children) gone(one);
      return { children, failure: child };
    }
    children.push(child);
  }
  return { children };
}

const gigabytes = (bytes: number): string => `${(bytes / 1e9).toFixed(1)} GB`;

const tooMuch = ({ held, most }: Excess): string =>
  `it was ended, with all it had started: it held ${gigabytes(held)} of memory; a program may hold ` +
  `${gigabytes(most)} here, less when little is left. Do it in smaller parts, or let a person raise ` +
  'budgets.memoryPercent';

const leftRunning = (names: readonly string[]): string =>
  `what it left running was ended: ${names.join(', ')}. Start what serves in the foreground, as a job: ` +
  'by run with background: true';

/** Programs that run, of which nothing is left when they are gone, or this process is. */
function watchedPrograms(platform: Platform, memoryPercent: number) {
  /** The id of each program that runs, by its mark. */
  const running = new Map<string, number>();
  const watch = createWatchdog(runMarker, running);
  const limit = createMemoryLimit(running, memoryPercent);
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
    limit.forget(child.pid);
    if (platform !== 'win32') killGroup(child.pid);
    running.delete(markOf(child));
    watch();
  }

  const end = (children: readonly Child[]) =>
    endTree([...running].filter(([, id]) => children.some(({ pid }) => pid === id)));

  const marksOf = (children: readonly Child[]) => children.map(markOf);
  return {
    begin,
    gone,
    end,
    limit,
    marksOf,
    endAll: () => endTree([...running].filter(([, pid]) => pid > 0)),
  };
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
