import type { ChildProcess } from 'node:child_process';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { ExecaMethod } from 'execa';
import { endTree, runMarker, startProgram } from './child.ts';
import type { Child, StartOptions, Started } from './child.ts';
import { createMemoryLimit, type MemoryLimit } from './memory-limit.ts';
import { createWatchdog } from './watchdog.ts';

/** A program that runs and is watched. */
export interface WatchedProgram extends Child {
  /** The value of its marker variable. */
  readonly mark: string;
}

/** Has programs watched that are started with these variables in their environment. */
export type Watch = <T>(work: (variables: Readonly<Record<string, string>>) => Promise<T>) => Promise<T>;

/** The programs that run: nothing of one is left when it is released, or when this process dies. */
export interface WatchedPrograms {
  /** Starts one; an error says why it could not be. `lasts`: it is watched from its first moment. */
  start(started: Started, options: StartOptions, lasts?: boolean): Promise<WatchedProgram | Error>;
  /** Starts one that is left to a person: nobody watches or ends it. */
  leave(started: Started, options: StartOptions): Promise<Child | Error>;
  /** Watches what another package starts, as long as `work` takes: see Processes. */
  watch: Watch;
  readonly memory: MemoryLimit;
  /** Lets go of one that has ended: its streams, and what is left of its process group. */
  release(program: WatchedProgram): void;
  /** Ends programs and everything they started. */
  end(programs: readonly WatchedProgram[]): Promise<void>;
  endAll(): Promise<void>;
}

/** Creates an empty set of them. `memoryPercent`: the part of the memory that one may hold. */
export function createWatchedPrograms(memoryPercent: number): WatchedPrograms {
  /** The id of each program that runs, by its mark; 0 for one that is about to be started. */
  const running = new Map<string, number>();
  const watchdog = createWatchdog(runMarker, running);
  const memory = createMemoryLimit(running, memoryPercent);
  let execa: ExecaMethod | undefined;

  /** Loads execa with the first program: the server starts without it. Fails with too many open files. */
  async function load(): Promise<ExecaMethod | Error> {
    try {
      ({ execa } = await import('execa'));
      return execa;
    } catch (error) {
      return error as Error;
    }
  }

  return {
    async start(started, options, lasts) {
      const starter = execa ?? (await load());
      if (starter instanceof Error) return starter;
      const mark = globalThis.crypto.randomUUID();
      running.set(mark, 0);
      watchdog.update(lasts);
      const env = { ...options.env, [runMarker]: mark };
      const child = await startProgram(starter, started, { ...options, env });
      if (child instanceof Error) running.delete(mark);
      else running.set(mark, child.pid);
      watchdog.update(lasts);
      return child instanceof Error ? child : { ...child, mark };
    },
    async leave(started, options) {
      const starter = execa ?? (await load());
      return starter instanceof Error ? starter : startProgram(starter, started, options);
    },
    async watch(work) {
      const mark = globalThis.crypto.randomUUID();
      running.set(mark, 0);
      watchdog.update();
      subscribe('child_process', hearErrors);
      try {
        return await work({ [runMarker]: mark });
      } finally {
        unsubscribe('child_process', hearErrors);
        running.delete(mark);
        watchdog.update();
      }
    },
    memory,
    release({ pid, mark, subprocess: { stdin, stdout, stderr } }) {
      for (const stream of [stdin, stdout, stderr]) stream?.destroy();
      memory.forget(pid);
      killGroup(pid);
      running.delete(mark);
      watchdog.update();
    },
    end: (programs) => endTree(programs.map(({ mark, pid }) => [mark, pid])),
    endAll: () => endTree([...running]),
  };
}

/**
 * Hears the error of a child that could not be started, as with too many open files: it would end this
 * process.
 */
function hearErrors(message: unknown): void {
  (message as { readonly process: ChildProcess }).process.on('error', () => undefined);
}

/** Kills the process group of a program that has ended: a child in it must not outlive the call. */
function killGroup(pid: number): void {
  if (process.platform === 'win32') return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // ESRCH: nothing of it is left, as usual.
  }
}
