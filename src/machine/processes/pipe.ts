import type { Readable } from 'node:stream';
import type { Platform } from '../../core/discoverer.ts';
import { asStarted } from './child.ts';
import type { Command, Outcome, Stage } from './command.ts';
import { endLeftBehind } from './left-behind.ts';
import {
  endOf,
  giveInput,
  interruptionOf,
  notStarted,
  outcomeOf,
  readStream,
  startRecording,
  stdinOf,
  type Interruption,
  type Recording,
} from './run-program.ts';
import type { WatchedProgram, WatchedPrograms } from './watched-programs.ts';

export type { Stage } from './command.ts';

export interface PipeCommand extends Command {
  /** Programs behind the first: each reads what the one before it prints. */
  readonly pipe: readonly Stage[];
}

/** The time a program may go on that has nothing more to say, when the one that read it has ended. */
const unreadMs = 1000;

/** A pipe that runs. */
interface RunningPipe {
  readonly programs: readonly WatchedProgram[];
  /** Programs whose output nobody reads any more. */
  readonly unread: Set<WatchedProgram>;
}

/**
 * Runs programs of which each reads what the one before it prints, and waits for their end. One that nobody
 * reads any more is ended soon, and has not failed: the pipe fails with the last of the others that did.
 */
export async function runPipe(
  command: PipeCommand,
  platform: Platform,
  watched: WatchedPrograms,
): Promise<Outcome> {
  const recording = startRecording(command);
  if (command.signal?.aborted) return outcomeOf(recording, { exitCode: null, ended: 'cancelled' });
  const { programs, error } = await startAll(command, platform, watched);
  if (error) return notStarted(recording, error, programs.length);
  const pipe: RunningPipe = { programs, unread: new Set() };
  connectAll(pipe, command, recording);
  const running = new Set(programs);
  const interruption = interruptionOf(command, () => watched.end([...running]));
  for (const { pid } of programs) watched.memory.watch(pid, interruption.exceed);
  await Promise.all(programs.map((_, at) => awaitEnd(at, pipe, { running, interruption, watched })));
  interruption.disarm();
  const { reason = 'exited', excess } = interruption;
  const leftRunning = reason === 'exited' ? await endLeftBehind(programs) : [];
  const failed = programs.findLastIndex(
    (program) => program.subprocess.exitCode !== 0 && !pipe.unread.has(program),
  );
  const exitCode = failed < 0 ? 0 : (programs[failed]?.subprocess.exitCode ?? null);
  const stage = Math.max(0, failed);
  return outcomeOf(recording, { exitCode, ended: reason, stage, excess, leftRunning });
}

/** Starts the programs of a pipe; when one cannot be, those before it are ended. */
async function startAll(
  command: PipeCommand,
  platform: Platform,
  watched: WatchedPrograms,
): Promise<{ readonly programs: readonly WatchedProgram[]; readonly error?: Error }> {
  const { cwd, lasts } = command;
  const stages = [command, ...command.pipe].map(({ program, argv, env }) => ({
    started: asStarted(program, argv, platform),
    env,
  }));
  const programs: WatchedProgram[] = [];
  for (const { started, env } of stages) {
    const stdin = programs.length > 0 ? 'pipe' : stdinOf(command);
    const program = await watched.start(started, { cwd, env, stdin, output: 'pipe' }, lasts);
    if (program instanceof Error) {
      if (programs.length > 0) await watched.end(programs);
      for (const one of programs) watched.release(one);
      return { programs, error: program };
    }
    programs.push(program);
  }
  return { programs };
}

/** Connects each program with the next, and reads what the pipe prints. */
function connectAll({ programs, unread }: RunningPipe, command: PipeCommand, recording: Recording): void {
  const stages = [command, ...command.pipe];
  for (const [at, program] of programs.entries()) {
    const { stdout, stderr } = program.subprocess;
    const next = programs[at + 1];
    const isJoined = next !== undefined && stages[at]?.joinsErrors === true;
    if (!isJoined) readStream(stderr, 'stderr', command, recording);
    if (next)
      connect(program, isJoined ? [stdout, stderr] : [stdout], next, () => leaveUnread(program, unread));
    else readStream(stdout, 'stdout', command, recording);
  }
  const input = programs[0]?.subprocess.stdin;
  if (input) giveInput(input, command);
}

/** Notes a program that nobody reads any more. Its complaint about that is not passed on. */
function leaveUnread(program: WatchedProgram, unread: Set<WatchedProgram>): void {
  unread.add(program);
  program.subprocess.stderr.removeAllListeners('data').resume();
}

/**
 * Lets a program read what another prints, and tells when that writes on after the reader has ended. execa's
 * `.pipe()` closes the output of the other at once: as streams of Node are sockets, it then fails with a
 * broken connection, which nobody could tell from a failure of its own.
 */
function connect(
  from: WatchedProgram,
  sources: readonly Readable[],
  to: WatchedProgram,
  onUnread: () => void,
): void {
  const { stdin } = to.subprocess;
  if (!stdin) return;
  let open = sources.length;
  const breakPipe = () => {
    onUnread();
    if (process.platform !== 'win32') from.subprocess.kill('SIGPIPE');
    for (const source of sources) source.destroy();
  };
  for (const source of sources) {
    source.pipe(stdin, { end: false }).once('error', breakPipe);
    source.once('close', () => {
      open -= 1;
      if (open === 0) stdin.end();
    });
    to.subprocess.once('exit', () => {
      source.unpipe(stdin);
      source.once('data', breakPipe);
    });
  }
}

interface AwaitedRun {
  /** The programs that have not ended. */
  readonly running: Set<WatchedProgram>;
  readonly interruption: Interruption;
  readonly watched: WatchedPrograms;
}

/** Waits for the end of one program of a pipe; the one before it is then ended soon. */
async function awaitEnd(
  at: number,
  { programs, unread }: RunningPipe,
  { running, interruption, watched }: AwaitedRun,
): Promise<void> {
  const program = programs[at];
  if (!program) return;
  // Only behind the last of a pipe nobody waits for what its children may print.
  const end = at === programs.length - 1 ? endOf(program) : program.closed;
  await Promise.race([end, interruption.over]);
  if (interruption.reason) await interruption.over;
  running.delete(program);
  watched.release(program);
  const before = programs[at - 1];
  if (!before || !running.has(before)) return;
  const late = setTimeout(() => {
    leaveUnread(before, unread);
    void watched.end([before]);
  }, unreadMs);
  before.subprocess.once('close', () => clearTimeout(late));
}
