import { ToolcribError } from '../../core/errors.ts';
import type { CallContext, OutputSink, ProgramInput } from '../../core/tool.ts';
import type { DatabaseServices } from '../databases/target.ts';
import { withoutAnswers } from '../programs/child-environment.ts';
import type { WorkTreeStates } from '../history/checkpoints.ts';
import { inlineLimit } from '../sanitize.ts';
import type { Outcome, Processes, Run } from '../processes/process.ts';
import type { Installation } from '../programs/installation.ts';
import type { RunDetails } from './action-result.ts';

/** A program as it would be started: all that can be refused has been. */
export interface PreparedProgram {
  readonly program: string;
  readonly argv: readonly string[];
  readonly folder: string;
  /** The child's whole environment. */
  readonly env: Readonly<Record<string, string>>;
  /** The command line as a person would type it. */
  readonly command: string;
  /** What it reads; left out: what the caller writes to it, or nothing. */
  readonly input?: string | undefined;
  readonly timeoutMs?: number;
  /** What the caller is told beside its output. */
  readonly notes: readonly string[];
  /** Whether the state of the work tree is kept first; `must`: without that it is not started. */
  readonly keeps: 'no' | 'first' | 'must';
  /** It may go on for long, or start what does. */
  readonly lasts: boolean;
  /** It changes nothing, and is soon done. */
  readonly looksOnly?: boolean;
  /** It opens a window of an editor, which goes on when the call is answered. */
  readonly isWindow?: boolean;
}

/** Keeps states of work trees. */
export type Checkpoint = Pick<WorkTreeStates, 'take' | 'isReady'>;

/** What running actions needs of this machine. */
export interface ActionServices {
  readonly run: Run;
  /** Opens a window, which goes on when the call is answered. */
  readonly leave?: Processes['leave'];
  /** Undefined for what takes no program. */
  readonly installation: Installation | undefined;
  readonly databases: DatabaseServices;
  /** The whole environment of its program. */
  readonly env: Readonly<Record<string, string>>;
  /** Left out where no states are kept. */
  readonly checkpoint?: Checkpoint;
}

/** What tests print may be a report, which is only understood whole. */
const keptBytes = 8 * 1024 * 1024;
/** A week, which budgets.jobMinutes can be at most: what ends it is the limit of its job. */
const longestMs = 7 * 24 * 60 * 60 * 1000;

/**
 * Runs a program, after the state of the work tree has been kept where that is wanted. `isWhole`: what it prints is a
 * report, which is only understood whole.
 */
export async function execute(
  prepared: PreparedProgram & { readonly isWhole: boolean },
  context: CallContext,
  { run, leave, checkpoint }: Pick<ActionServices, 'run' | 'checkpoint' | 'leave'>,
): Promise<{ readonly outcome: Outcome; readonly telling: RunDetails }> {
  const { folder, command, input, keeps, looksOnly = false } = prepared;
  const { signal, workspace } = context;
  const kept = keeps === 'no' ? undefined : await checkpoint?.take(folder, command, workspace, signal);
  if (keeps === 'must' && kept?.isKept !== true) throw notKept(kept?.note);
  // What only looks is kept afterwards, when not all of it is shown.
  const sink = looksOnly ? undefined : context.keepOutput(command, folder);
  const giveInput = (open: ProgramInput) => {
    open.write(input ?? '');
    open.end();
  };
  const running = prepared.isWindow && leave ? leave : run;
  const outcome = await running({
    ...prepared,
    cwd: folder,
    env: prepared.isWindow ? withoutAnswers(prepared.env) : prepared.env,
    signal,
    onLine: context.progress,
    timeoutMs: prepared.timeoutMs ?? (looksOnly ? context.budgets.callSeconds * 1000 : longestMs),
    // What is kept elsewhere is needed for an answer, or for a report.
    ...((looksOnly || prepared.isWhole) && { keepBytes: keptBytes }),
    sink,
    takeInput: input === undefined ? context.takeInput : giveInput,
  }).finally(() => {
    sink?.end();
    kept?.ended();
  });
  const handle = sink?.handle ?? keptLater(outcome, () => context.keepOutput(command, folder));
  const notes = [...prepared.notes, outcome.note, kept?.note].filter((note) => note !== undefined);
  return { outcome, telling: { command, folder, notes, handle } };
}

/** The handle of an output that is too long to be shown. */
function keptLater({ stdout, stderr }: Outcome, keep: () => OutputSink): string | undefined {
  if (stdout.bytes.length + stderr.bytes.length <= inlineLimit) return undefined;
  const sink = keep();
  sink.add('stdout', stdout.bytes);
  if (stdout.omittedBytes > 0)
    sink.add('stdout', Buffer.from(`\n[${stdout.omittedBytes} bytes of its middle were not kept]\n`));
  sink.add('stderr', stderr.bytes);
  sink.end();
  return sink.handle;
}

const notKept = (why = 'checkpoints are off'): ToolcribError =>
  new ToolcribError(
    'WRITE_FAILED',
    `Nothing was done: what it would lose could not be kept first (${why}).`,
    'Make the call again: a person is asked now, since nothing would bring it back.',
  );
