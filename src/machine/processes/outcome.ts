import { collect, type Collector } from '../output.ts';
import { reasonOf } from './child.ts';
import type { Command, Outcome } from './command.ts';
import type { Interruption } from './interruption.ts';
import { endLeftBehind } from './left-behind.ts';
import type { Excess } from './memory-limit.ts';
import type { WatchedProgram } from './watched-programs.ts';

const defaultKeepBytes = 256 * 1024;

/** The begin of a run, and the part of its output that is kept. */
export interface Recording {
  readonly startedAt: number;
  readonly stdout: Collector;
  readonly stderr: Collector;
}

export const startRecording = (keepBytes = defaultKeepBytes): Recording => ({
  startedAt: performance.now(),
  stdout: collect(keepBytes),
  stderr: collect(keepBytes),
});

type End = Pick<Outcome, 'exitCode' | 'ended' | 'stage' | 'note'>;

export const outcomeOf = ({ startedAt, stdout, stderr }: Recording, end: End): Outcome => ({
  stage: 0,
  ...end,
  stdout: stdout.finish(),
  stderr: stderr.finish(),
  durationMs: Math.round(performance.now() - startedAt),
});

/** `stage`: the place of the program in its pipe. */
export function notStarted(recording: Recording, error: Error, stage = 0): Outcome {
  recording.stderr.add(Buffer.from(reasonOf(error)));
  return outcomeOf(recording, { exitCode: null, ended: 'not_started', stage });
}

/** A run of which all programs have ended, and their part in it. */
interface EndedRun {
  readonly command: Command;
  readonly recording: Recording;
  readonly interruption: Interruption;
  readonly exitCode: number | null;
  readonly stage: number;
}

/** The outcome of programs that have ended. Ends what they have left running, if nothing interrupted them. */
export async function outcomeAfter(programs: readonly WatchedProgram[], run: EndedRun): Promise<Outcome> {
  const { command, recording, interruption, exitCode, stage } = run;
  const { reason = 'exited', excess } = interruption;
  const leftRunning = reason === 'exited' ? await endLeftBehind(programs) : [];
  const note = excess ? tooMuchMemory(excess) : leftRunning.length > 0 ? endedToo(leftRunning) : undefined;
  if (note === undefined) return outcomeOf(recording, { exitCode, ended: reason, stage });
  command.sink?.add('stderr', Buffer.from(`[${note}]\n`));
  // A program that is told to end may do so as if it were done.
  return outcomeOf(recording, { exitCode: excess ? null : exitCode, ended: reason, stage, note });
}

const gigabytes = (bytes: number): string => `${(bytes / 1e9).toFixed(1)} GB`;

const tooMuchMemory = ({ held, most }: Excess): string =>
  `it was ended, with all it had started: it held ${gigabytes(held)} of memory; a program may hold ` +
  `${gigabytes(most)} here, less when little is left. Do it in smaller parts, or let a person raise ` +
  'budgets.memoryPercent';

const endedToo = (names: readonly string[]): string =>
  `what it left running was ended: ${names.join(', ')}. Start what serves in the foreground, as a job: ` +
  'by run with background: true';
