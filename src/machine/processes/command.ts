import type { OutputSink, ProgramInput } from '../../core/tool.ts';
import type { Collected } from '../output.ts';
import type { PackageStart } from './child.ts';

/** A program, and what it is given. */
export interface Stage {
  /** Absolute path: a bare name would be looked up again, perhaps in the working directory. */
  readonly program: string;
  readonly argv: readonly string[];
  /** The child's whole environment: nothing is inherited. */
  readonly env: Readonly<Record<string, string>>;
  /** In a pipe, the next program reads its standard error as well. */
  readonly joinsErrors?: boolean;
}

export interface Command extends Stage {
  readonly cwd: string;
  /** Programs behind it: each reads what the one before it prints. */
  readonly pipe?: readonly Stage[];
  /** The time it may take, 45 s when left out. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  /** Gets every chunk of both streams, whatever else is done with it. */
  readonly sink?: OutputSink | undefined;
  /** The program's input, which ends with it. */
  readonly wholeInput?: string | undefined;
  /** Gets the program's input, which then stays open. Without either it is empty, and ends at once. */
  readonly takeInput?: ((input: ProgramInput) => void) | undefined;
  /** Called with the last whole line of each chunk, blank ones left out. */
  readonly onLine?: (line: string) => void;
  /** Called with each piece of standard output; none is then kept. False: no more is read. Must not throw. */
  readonly onOutput?: (chunk: Buffer) => boolean;
  /** Has another package start the program, in the place of execa. Not in a pipe. */
  readonly startByPackage?: PackageStart;
  /** It may go on for long: nothing of it is left when this process dies, also in its first moment. */
  readonly lasts?: boolean;
  /** Bytes of each stream to keep, half from its head and half from its tail. */
  readonly keepBytes?: number;
}

/** The end of a program, or of a pipe. A failing one is an outcome, not an exception. */
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
  /** More about its end; its sink has been told. */
  readonly note?: string;
}

export type Run = (command: Command) => Promise<Outcome>;
