import { statSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { CompiledLine, Values } from '../../core/command-line.ts';
import { ToolcribError } from '../../core/errors.ts';
import type { CallContext, OutputSink, Result } from '../../core/tool.ts';
import { readPlain } from '../../store/own-files.ts';
import { processFolder } from '../../store/process-folder.ts';
import { withoutAnswers } from '../programs/child-environment.ts';
import type { Outcome } from '../processes/process.ts';
import type { Installation } from '../programs/installation.ts';
import type { Session } from '../session.ts';
import { inlineLimit } from '../sanitize.ts';
import { programResult, type RunDetails } from './action-result.ts';
import type { CompiledAction } from './compiled-action.ts';

/** The program of an action, as this machine has it. */
export interface ActionProgram {
  /** Undefined for what takes no program. */
  readonly installation: Installation | undefined;
  /** The whole environment of its program. */
  readonly env: Readonly<Record<string, string>>;
}

/**
 * One call of an action: its values with all paths checked, and the program that each of its lines starts.
 */
export interface ActionCall {
  readonly compiled: CompiledAction;
  readonly session: Session;
  readonly values: Values;
  readonly folder: string;
  readonly program: string;
  /** Arguments before those of a line. */
  readonly leading: readonly string[];
  /** Arguments behind them. */
  readonly trailing: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** A program as it would be started: all that can be refused has been. */
export interface Launch {
  readonly program: string;
  readonly argv: readonly string[];
  readonly folder: string;
  /** The child's whole environment. */
  readonly env: Readonly<Record<string, string>>;
  /** The command line as a person would type it. */
  readonly command: string;
  /** The text that it reads; left out: what the caller writes to it, or nothing. */
  readonly input?: string | undefined;
  /** Notes for the caller, beside its output. */
  readonly notes: readonly string[];
  /** `first`: the state of the work tree is kept before it; `must`: without that it is not started. */
  readonly keeps: 'no' | 'first' | 'must';
  /** It may go on for long, or start what does. */
  readonly lasts: boolean;
  /** It changes nothing, and is soon done. */
  readonly readsOnly?: boolean;
  /** It opens a window of an editor, which goes on when the call is answered. */
  readonly isWindow?: boolean;
}

/** A call that could be run, and what it would start. */
export interface PreparedAction {
  readonly call: ActionCall;
  readonly launch: Launch;
}

/** Some file systems keep whole seconds only. */
const oldestMs = 2000;

/** Runs what was planned, with the steps around it, and tells what came of it. */
export async function runAction({ call, launch }: PreparedAction, context: CallContext): Promise<Result> {
  const { compiled, session, values } = call;
  const { ok, out, steps } = compiled.action;
  const { hints } = compiled.of;
  const since = Date.now() - oldestMs;
  if (compiled.before) {
    const { line, ok: goesOn } = compiled.before;
    const outcome = await runLine(call, line, context.signal);
    if (outcome.ended !== 'exited' || !goesOn.includes(outcome.exitCode ?? -1))
      return programResult(outcome, { hints, ok: [] }, launch);
  }
  // For the reports of this call alone.
  const reports = compiled.run.hasFresh ? await mkdtemp(join(processFolder(), 'report-')) : undefined;
  try {
    const own = reports === undefined ? launch.argv : argvOf(call, compiled.run.write(values, reports).argv);
    const isWhole = out !== undefined;
    const { outcome, details } = await execute({ ...launch, argv: own }, isWhole, context, session);
    const hasReports = reports !== undefined || steps?.reports !== undefined;
    const rest = async () => ({
      files: hasReports ? await readReports(call, reports, since) : {},
      after: compiled.after.length > 0 ? await lookAfterwards(call, context.signal) : {},
      values,
    });
    return await programResult(outcome, { ok, report: out, hints, rest }, details);
  } finally {
    if (reports !== undefined) await rm(reports, { recursive: true, force: true });
  }
}

/** The arguments of a line with those around them. */
export const argvOf = ({ leading, trailing }: ActionCall, argv: readonly string[]): readonly string[] => [
  ...leading,
  ...argv,
  ...trailing,
];

/** Runs a line of an action beside its own. */
export function runLine(call: ActionCall, line: CompiledLine, signal: AbortSignal): Promise<Outcome> {
  const { program, folder, session } = call;
  const { argv, env } = line.write(call.values);
  return session.environment.run({
    program,
    argv: argvOf(call, argv),
    cwd: folder,
    env: { ...call.env, ...env },
    signal,
  });
}

/** The output of the looks afterwards; one that fails, or has only complaints, is left out. */
async function lookAfterwards(call: ActionCall, signal: AbortSignal) {
  const printed: Record<string, string> = {};
  for (const [name, line] of call.compiled.after) {
    const { exitCode, stdout, stderr } = await runLine(call, line, signal);
    if (exitCode === 0 && (stdout.text !== '' || stderr.text === '')) printed[name] = stdout.text;
  }
  return printed;
}

/** More than reports of test results have, in bytes and in files. */
const [mostBytes, mostFiles] = [16 * 1024 * 1024, 2000];

/** Texts of report files by their paths. What is no plain file, or too large, is as good as not written. */
async function readReports(
  call: ActionCall,
  folder: string | undefined,
  since: number,
): Promise<Readonly<Record<string, string>>> {
  const paths = folder === undefined ? [] : (await readdir(folder)).map((name) => join(folder, name));
  const globs = call.compiled.action.steps?.reports;
  if (globs) paths.push(...(await changedFiles(call, globs, since)));
  const texts: Record<string, string> = {};
  for (const path of paths) {
    const text = readPlain(path, ({ size }) => size <= mostBytes)?.toString();
    if (text !== undefined) texts[path] = text;
  }
  return texts;
}

/** The files below the folder that match one of the globs and were changed since then, in milliseconds. */
async function changedFiles({ session, folder }: ActionCall, globs: readonly string[], since: number) {
  // Reports lie in folders that are ignored.
  const argv = ['--no-config', '--files', '--no-ignore', '--hidden', '--null'];
  const wanted = globs.flatMap((glob) => ['--glob', glob]);
  const program = await session.ripgrep();
  const { stdout } = await session.environment.run({
    program,
    argv: [...argv, ...wanted],
    cwd: folder,
    env: {},
  });
  const names = stdout.bytes.toString().split('\0').filter(Boolean).slice(0, mostFiles);
  const changedAt = (path: string) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return names.map((name) => join(folder, name)).filter((path) => changedAt(path) >= since);
}

/** Bytes of a report that are kept: it is only understood whole. */
const keptBytes = 8 * 1024 * 1024;
/** A week, which budgets.jobMinutes can be at most: what ends a program is the limit of its job. */
export const longestMs = 7 * 24 * 60 * 60 * 1000;

/**
 * Starts a program, after the state of the work tree has been kept where that is wanted. `isWhole`: what it
 * prints is a report, which is only understood whole.
 */
export async function execute(
  launch: Launch,
  isWhole: boolean,
  context: CallContext,
  { environment, checkpoints }: Session,
): Promise<{ readonly outcome: Outcome; readonly details: RunDetails }> {
  const { program, argv, folder, command, input, keeps, lasts, readsOnly = false, isWindow = false } = launch;
  const { signal, workspace } = context;
  const kept = keeps === 'no' ? undefined : await checkpoints?.take(folder, command, workspace, signal);
  if (keeps === 'must' && kept?.isKept !== true) throw notKept(kept?.note);
  // What only looks is kept afterwards, when not all of it is shown.
  const sink = readsOnly ? undefined : context.keepOutput(command, folder);
  const start = isWindow ? environment.leave : environment.run;
  const outcome = await start({
    program,
    argv,
    cwd: folder,
    env: isWindow ? withoutAnswers(launch.env) : launch.env,
    lasts,
    signal,
    onLine: context.progress,
    timeoutMs: readsOnly ? context.budgets.callSeconds * 1000 : longestMs,
    // What is kept elsewhere is needed for an answer, or for a report.
    ...((readsOnly || isWhole) && { keepBytes: keptBytes }),
    sink,
    wholeInput: input,
    takeInput: context.takeInput,
  }).finally(() => {
    sink?.end();
    kept?.ended();
  });
  const isLong = outcome.stdout.bytes.length + outcome.stderr.bytes.length > inlineLimit;
  const keptNow = sink ?? (isLong ? keepNow(outcome, context.keepOutput(command, folder)) : undefined);
  const notes = [...launch.notes, outcome.note, kept?.note].filter((note) => note !== undefined);
  return { outcome, details: { command, folder, notes, handle: keptNow?.handle } };
}

/** Keeps an output that is too long to be shown. */
function keepNow({ stdout, stderr }: Outcome, sink: OutputSink): OutputSink {
  sink.add('stdout', stdout.bytes);
  if (stdout.omittedBytes > 0)
    sink.add('stdout', Buffer.from(`\n[${stdout.omittedBytes} bytes of its middle were not kept]\n`));
  sink.add('stderr', stderr.bytes);
  sink.end();
  return sink;
}

const notKept = (why = 'checkpoints are off'): ToolcribError =>
  new ToolcribError(
    'WRITE_FAILED',
    `Nothing was done: what it would lose could not be kept first (${why}).`,
    'Make the call again: a person is asked now, since nothing would bring it back.',
  );
