import { statSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { write, type Line } from '../../core/command-line.ts';
import type { Output, Report } from '../../core/report.ts';
import type { CallContext, Result } from '../../core/tool.ts';
import { readPlain } from '../../store/own-files.ts';
import { processFolder } from '../../store/process-folder.ts';
import type { Run } from '../processes/process.ts';
import { findRipgrep } from '../programs/find-ripgrep.ts';
import { programResult } from './action-result.ts';
import { runBeside, type ActionCall, type PreparedCall } from './plan-call.ts';
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
): Promise<Result> {
  const { call, folder } = prepared;
  const { of, action, values, services } = call;
  const writesReport = isFresh(call, prepared.line);
  // For the reports of this call alone.
  const reports = writesReport ? await mkdtemp(join(processFolder(), 'report-')) : undefined;
  const since = Date.now() - oldestMs;
  try {
    const argv = reports ? argvFor(prepared, reports) : prepared.argv;
    const unprepared = await prepare(prepared, context);
    if (unprepared) return unprepared;
    const { outcome, telling } = await execute(
      { ...prepared, argv, isWhole: out !== undefined },
      context,
      services,
    );
    const filesOf = async () => [
      ...(reports ? (await readdir(reports)).map((name) => join(reports, name)) : []),
      ...(action.collects ? await changedFiles(services.run, folder, action.collects, since) : []),
    ];
    const rest = async (): Promise<Pick<Output, 'files' | 'after' | 'values'>> => ({
      files: textsOf(await filesOf()),
      after: await followUps(prepared, context),
      values,
    });
    return await programResult(outcome, { ok, report: out, hints: of.hints, rest }, telling);
  } finally {
    if (reports) await rm(reports, { recursive: true, force: true });
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
): Promise<Result | undefined> {
  if (!call.action.prepare) return undefined;
  const outcome = await runBeside(call, start, call.action.prepare, signal);
  if (outcome.ended === 'exited' && outcome.exitCode === 0) return undefined;
  return programResult(outcome, { hints: call.of.hints, ok: [] }, { command, notes });
}

/** What the follow-ups say; one that fails, or has only complaints, is left out. */
async function followUps({ call, start }: PreparedCall, { signal }: CallContext) {
  const said: Record<string, string> = {};
  for (const [name, line] of Object.entries<Line<never>>(call.action.after ?? {})) {
    const { exitCode, stdout, stderr } = await runBeside(call, start, line, signal);
    if (exitCode === 0 && (stdout.text !== '' || stderr.text === '')) said[name] = stdout.text;
  }
  return said;
}

/** More than reports of test results have, in bytes and in files. */
const [mostBytes, mostFiles] = [16 * 1024 * 1024, 2000];

/** The files below a folder that match one of the globs and were changed since then, in milliseconds. */
async function changedFiles(
  run: Run,
  folder: string,
  globs: readonly string[],
  since: number,
): Promise<string[]> {
  // Reports lie in folders that are ignored.
  const argv = ['--no-config', '--files', '--no-ignore', '--hidden', '--null'];
  const wanted = globs.flatMap((glob) => ['--glob', glob]);
  const program = await findRipgrep();
  const { stdout } = await run({ program, argv: [...argv, ...wanted], cwd: folder, env: {} });
  const paths = stdout.bytes.toString().split('\0').filter(Boolean).slice(0, mostFiles);
  const changedAt = (path: string) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return paths.map((path) => join(folder, path)).filter((path) => changedAt(path) >= since);
}

/** Texts by the paths of their files. What is no plain file, or too large, is as good as not written. */
const textsOf = (paths: readonly string[]): Readonly<Record<string, string>> =>
  Object.fromEntries(
    paths.flatMap((path) => {
      const text = readPlain(path, ({ size }) => size <= mostBytes)?.toString();
      return text === undefined ? [] : [[path, text]];
    }),
  );
