import type { Readable, Writable } from 'node:stream';
import type { Platform } from '../../core/discoverer.ts';
import type { ProgramInput } from '../../core/tool.ts';
import { lastLineOf } from '../output.ts';
import { asStarted, type StartOptions } from './child.ts';
import type { Command, Outcome } from './command.ts';
import { interruptionOf } from './interruption.ts';
import { notStarted, outcomeAfter, outcomeOf, startRecording } from './outcome.ts';
import type { WatchedProgram, WatchedPrograms } from './watched-programs.ts';

/** The time output may still take to arrive after a program has ended, when a child of it keeps the pipe open. */
const drainMs = 200;
/** Bytes that may wait to be read by a program. */
const mostInput = 1024 * 1024;

/** Runs one program without a shell, and waits for its end. */
export async function runProgram(
  command: Command,
  platform: Platform,
  programs: WatchedPrograms,
): Promise<Outcome> {
  const { cwd, env, takeInput } = command;
  const recording = startRecording(command.keepBytes);
  if (command.signal?.aborted) return outcomeOf(recording, { exitCode: null, ended: 'cancelled' });
  const started = asStarted(command.program, command.argv, platform);
  const options: StartOptions = { cwd, env, stdin: takeInput ? 'pipe' : 'ignore', output: 'pipe' };
  const program = await programs.start(started, options, command.lasts);
  if (program instanceof Error) return notStarted(recording, program);

  const { stdin, stdout, stderr } = program.subprocess;
  readStream(stderr, 'stderr', command, recording.stderr.add);
  readStream(stdout, 'stdout', command, keptOrHandedOn(stdout, command, recording.stdout.add));
  if (stdin) takeInput?.(inputOf(stdin));

  const interruption = interruptionOf(command, () => programs.end([program]));
  programs.memory.watch(program.pid, interruption.exceed);
  await Promise.race([endOf(program), interruption.over]);
  if (interruption.reason) await interruption.over;
  interruption.stop();
  programs.release(program);
  const { exitCode } = program.subprocess;
  return outcomeAfter([program], { command, recording, interruption, exitCode, stage: 0 });
}

type OnChunk = (chunk: Buffer) => void;

/** Reads a stream of a program: each chunk goes to the sink, to who is told lines, and to `keep`. */
export function readStream(
  stream: Readable,
  name: 'stdout' | 'stderr',
  { sink, onLine }: Command,
  keep: OnChunk,
): void {
  const lastLine = onLine && lastLineOf(onLine);
  stream.on('data', (chunk: Buffer) => {
    sink?.add(name, chunk);
    lastLine?.(chunk);
    keep(chunk);
  });
}

/** Standard output is kept, or handed on as long as it is wanted. */
export function keptOrHandedOn(stdout: Readable, { onOutput }: Command, keep: OnChunk): OnChunk {
  if (!onOutput) return keep;
  return (chunk) => {
    if (!onOutput(chunk)) stdout.destroy();
  };
}

export function inputOf(stdin: Writable): ProgramInput {
  // EPIPE: the program has ended, or closed its input.
  stdin.on('error', () => stdin.destroy());
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

/** Resolves when a program has ended and printed all; what its children may still print is not waited for. */
export function endOf({ subprocess }: WatchedProgram): Promise<void> {
  return new Promise((resolve) => {
    subprocess.then(() => resolve());
    subprocess.once('exit', () => {
      // A busy process comes to its timers before it looks at the pipes again: what is in them is read first.
      setTimeout(() => setImmediate(resolve), drainMs).unref();
    });
  });
}
