import type { ExecaMethod } from 'execa';
import { endTree, runMarker, startByPackage, startProgram } from './child.ts';
import type { Child, PackageStart, StartOptions, Started } from './child.ts';
import { createMemoryLimit, type MemoryLimit } from './memory-limit.ts';
import { createWatchdog } from './watchdog.ts';

/** A program that runs and is watched. */
export interface WatchedProgram extends Child {
  /** The value of its marker variable. */
  readonly mark: string;
}

/** The programs that run: nothing of one is left when it is released, or when this process dies. */
export interface WatchedPrograms {
  /**
   * Starts one, by execa or by another package; an error says why it could not be. `lasts`: it is watched
   * from its first moment.
   */
  start(
    program: Started | PackageStart,
    options: StartOptions,
    lasts?: boolean,
  ): Promise<WatchedProgram | Error>;
  /** Starts one that is left to a person: nobody watches or ends it. */
  leave(started: Started, options: StartOptions): Promise<Child | Error>;
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

  async function begin(program: Started | PackageStart, options: StartOptions): Promise<Child | Error> {
    if (typeof program === 'function') return startByPackage(program, options);
    const starter = execa ?? (await load());
    return starter instanceof Error ? starter : startProgram(starter, program, options);
  }

  return {
    async start(program, options, lasts) {
      const mark = globalThis.crypto.randomUUID();
      running.set(mark, 0);
      watchdog.update(lasts);
      const env = { ...options.env, [runMarker]: mark };
      const child = await begin(program, { ...options, env });
      if (child instanceof Error) running.delete(mark);
      else running.set(mark, child.pid);
      watchdog.update(lasts);
      return child instanceof Error ? child : { ...child, mark };
    },
    leave: begin,
    memory,
    release({ pid, mark, subprocess: { stdin, stdout, stderr } }) {
      for (const stream of [stdin, stdout, stderr]) stream?.destroy();
      memory.forget(pid);
      try {
        // A child that it left in its process group must not outlive the call.
        if (process.platform !== 'win32') process.kill(-pid, 'SIGKILL');
      } catch {
        // ESRCH: nothing of it is left, as usual.
      }
      running.delete(mark);
      watchdog.update();
    },
    end: (programs) => endTree(programs.map(({ mark, pid }) => [mark, pid])),
    endAll: () => endTree([...running].filter(([, pid]) => pid > 0)),
  };
}
