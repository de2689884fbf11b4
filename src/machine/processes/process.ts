import type { Platform } from '../../core/discoverer.ts';
import { usualBudgets } from '../../core/settings.ts';
import { asStarted, type StartOptions } from './child.ts';
import type { Outcome, Run, Stage } from './command.ts';
import { runPipe } from './pipe.ts';
import { notStarted, outcomeOf, runProgram, startRecording } from './run-program.ts';
import { createWatchedPrograms, type Watch, type WatchedPrograms } from './watched-programs.ts';

export type { Command, Outcome, Run } from './command.ts';

/** The only place where programs are started. */
export interface Processes {
  /**
   * Runs a program, or a pipe of them, without a shell, in sessions of their own (no terminal), the input
   * closed. Rejects only with ARG_INVALID, for an argument that no Windows batch file can be given. When it
   * returns, all that they have started is gone; where no system tells what that is, their process groups.
   */
  readonly run: Run;
  /**
   * Starts a program that opens a window in which a person works, and leaves it to them: nothing reads what
   * it prints. The outcome is that of its first second: a failure is told, and what still runs then has
   * `exited` with code 0.
   */
  readonly leave: (command: WindowCommand) => Promise<Outcome>;
  /**
   * Watches the programs that another package starts while `work` goes on: they are ended with this process,
   * if they carry the variables that `work` is given.
   */
  readonly watch: Watch;
  /** Ends everything that is still running, and what it started. */
  readonly endAll: () => Promise<void>;
}

/** A program that opens a window. */
export interface WindowCommand extends Stage {
  readonly cwd: string;
}

/** Creates the one starter of programs. `memoryPercent`: the part of the memory that a program may hold. */
export function createProcesses(platform: Platform, memoryPercent = usualBudgets.memoryPercent): Processes {
  const programs = createWatchedPrograms(memoryPercent);
  return {
    run(command) {
      const { pipe = [] } = command;
      return pipe.length > 0
        ? runPipe({ ...command, pipe }, platform, programs)
        : runProgram(command, platform, programs);
    },
    leave: (command) => leaveRunning(command, platform, programs),
    watch: programs.watch,
    endAll: programs.endAll,
  };
}

async function leaveRunning(
  { program, argv, cwd, env }: WindowCommand,
  platform: Platform,
  programs: WatchedPrograms,
): Promise<Outcome> {
  const recording = startRecording({});
  const options: StartOptions = { cwd, env, stdin: 'ignore', output: 'ignore' };
  const child = await programs.leave(asStarted(program, argv, platform), options);
  if (child instanceof Error) return notStarted(recording, child);
  const { subprocess } = child;
  subprocess.unref();
  const exitCode = await new Promise<number | null>((resolve) => {
    const timer = setTimeout(resolve, 1000, 0);
    subprocess.once('exit', (code) => {
      clearTimeout(timer);
      resolve(code);
    });
  });
  return outcomeOf(recording, { exitCode, ended: 'exited' });
}
