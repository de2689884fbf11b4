import { write, type Line, type ProgramAction } from '../../core/program.ts';
import type { Output, Report } from '../../core/report.ts';
import type { CallContext, ToolResult } from '../../core/tool.ts';
import { findRipgrep } from '../programs/find-ripgrep.ts';
import { programResult } from './action-result.ts';
import { runBeside, type ActionCall, type PreparedCall } from './plan-call.ts';
import { changedFiles, reportFolder, type Files } from './report-files.ts';
import { execute } from './run-program.ts';

/** How the output of the way that was taken becomes an answer. */
export interface Answering {
  readonly ok?: readonly number[] | undefined;
  readonly out?: Report | undefined;
}

/** Some file systems keep whole seconds only. */
const oldestMs = 2000;

/** Runs what was planned, with its report files and follow-ups, and tells what came of it. */
export async function runCall(
  prepared: PreparedCall,
  { ok, out }: Answering,
  context: CallContext,
): Promise<ToolResult> {
  const { call, folder } = prepared;
  const { of, action, values, services } = call;
  const writesReport = isFresh(call, prepared.line);
  const reports = writesReport ? await reportFolder() : undefined;
  const since = Date.now() - oldestMs;
  try {
    const argv = reports ? argvFor(prepared, reports.path) : prepared.argv;
    const unprepared = await prepare(prepared, context);
    if (unprepared) return unprepared;
    const { outcome, telling } = await execute(
      { ...prepared, argv, isWhole: out !== undefined },
      context,
      services,
    );
    const collected = async (): Promise<Files> =>
      action.collects
        ? changedFiles({ run: services.run, ripgrep: await findRipgrep() }, folder, action.collects, since)
        : {};
    const rest = async (): Promise<Pick<Output, 'files' | 'after' | 'values'>> => ({
      files: { ...(await reports?.read()), ...(await collected()) },
      after: await followUps(prepared, context),
      values,
    });
    return await programResult(outcome, { ok, report: out, hints: of.hints, rest }, telling);
  } finally {
    await reports?.remove();
  }
}

/** Whether the program is told to write a report. */
const isFresh = ({ of, action, values }: ActionCall, line: Line<never>): boolean =>
  JSON.stringify(write(of, action, line, values, 'a')) !==
  JSON.stringify(write(of, action, line, values, 'b'));

const argvFor = ({ call, line, start }: PreparedCall, folder: string): string[] => [
  ...start.leading,
  ...write(call.of, call.action, line, call.values, folder).argv,
  ...start.trailing,
];

/** Does what has to be done first; what it says when that fails. */
async function prepare(
  { call, start, command, notes }: PreparedCall,
  { signal }: CallContext,
): Promise<ToolResult | undefined> {
  if (!call.action.prepare) return undefined;
  const now = { ...call, context: { ...call.context, signal } };
  const outcome = await runBeside(now, start, call.action.prepare);
  if (outcome.ended === 'exited' && outcome.exitCode === 0) return undefined;
  return programResult(outcome, { hints: call.of.hints, ok: [] }, { command, notes });
}

/** What the follow-ups say; one that fails, or has only complaints, is left out. */
async function followUps({ call, start }: PreparedCall, { signal }: CallContext) {
  const said: Record<string, string> = {};
  for (const [name, line] of Object.entries<NonNullable<ProgramAction['after']>[string]>(
    call.action.after ?? {},
  )) {
    const { exitCode, stdout, stderr } = await runBeside(
      { ...call, context: { ...call.context, signal } },
      start,
      line,
    );
    if (exitCode === 0 && (stdout.text !== '' || stderr.text === '')) said[name] = stdout.text;
  }
  return said;
}
