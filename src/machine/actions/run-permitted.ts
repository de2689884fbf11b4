import type { RunAction } from '../../core/discoverer.ts';
import type { CallContext, ToolResult, Workspace } from '../../core/tool.ts';
import { actionResult, failureOf } from './action-result.ts';
import type { Run } from '../processes/process.ts';
import { projectFolders } from '../programs/project-folders.ts';

/** A program that a person has said yes to, or a rule. */
export interface Permitted {
  readonly program: string;
  readonly argv: readonly string[];
  readonly folder: string;
  /** The environment of a child of this machine; folders of the project are taken off its search path. */
  readonly env: Readonly<Record<string, string>>;
  /** The command line as a person would type it. */
  readonly command: string;
  /** What it reads; left out: what the caller writes to it, or nothing. */
  readonly input?: string | undefined;
}

interface Services {
  readonly run: Run;
  checkpoint?(folder: string, workspace: Workspace, signal: AbortSignal): Promise<string | undefined>;
}

/** A week, which budgets.jobMinutes can be at most: what ends it is the limit of its job. */
const longestMs = 7 * 24 * 60 * 60 * 1000;
/** What tests print may be a report, which is only understood whole. */
const keptBytes = 8 * 1024 * 1024;

/** Of any program it is known only that it succeeds with 0, and prints text. */
const anyProgram: RunAction = {
  title: '',
  description: '',
  effects: ['execute'],
  params: {},
  argv: [],
  example: { runs: '' },
};

/**
 * Runs a program after the state of the work tree has been kept, and tells what came of it. `decide` finds it and asks; it is
 * called once more right before the start, since a file can be changed in between.
 */
export async function runPermitted(
  decide: () => Promise<Permitted>,
  context: CallContext,
  { run, checkpoint }: Services,
): Promise<ToolResult> {
  const { signal, workspace } = context;
  const { folder } = await decide();
  const kept = await checkpoint?.(folder, workspace, signal);
  const { program, argv, env, command, input } = await decide();
  const sink = context.keepOutput(command, folder);
  const takeInput: CallContext['takeInput'] =
    input === undefined
      ? context.takeInput
      : (open) => {
          open.write(input);
          open.end();
        };
  const project = await projectFolders(workspace.roots);
  const outcome = await run({
    program,
    argv,
    cwd: folder,
    env: { ...env, PATH: project.pathWithout(env['PATH'] ?? '') },
    signal,
    afterWait: async () => void (await decide()),
    onLine: context.progress,
    keepBytes: keptBytes,
    timeoutMs: longestMs,
    lasts: true,
    sink,
    ...(takeInput && { takeInput }),
  });
  sink.end();
  const telling = { notes: kept === undefined ? [] : [kept], handle: sink.handle };
  return (
    (await failureOf({ ...outcome, command }, anyProgram, undefined, telling)) ??
    actionResult(anyProgram, outcome.stdout.text, telling, outcome)
  );
}
