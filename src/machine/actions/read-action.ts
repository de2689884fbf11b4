import type { Values } from '../../core/command-line.ts';
import { ToolcribError } from '../../core/errors.ts';
import type { ProgramAction } from '../../core/program.ts';
import type { Plan, PlanContext, Result, Workspace } from '../../core/tool.ts';
import { upwards } from '../../core/upwards.ts';
import { rooted } from '../paths/workspace.ts';
import { headAndTail, sanitize } from '../sanitize.ts';
import { reported } from './action-result.ts';
import { checkPaths, pathParams, unlessMissing } from './check-paths.ts';

/** An action that reads a file of the project, with the names of the file. */
export interface ReadAction {
  /** The tool that it is. */
  readonly name: string;
  readonly action: ProgramAction;
  readonly files: readonly string[];
}

interface PreparedRead {
  readonly folder: string;
  readonly values: Values;
}

/** Plans to read a file of the project, because asking the program would run the project's code. */
export async function planRead(
  { name, action, files }: ReadAction,
  given: Values,
  { workspace }: PlanContext,
): Promise<Plan<PreparedRead>> {
  const { folder, values } = await checkPaths(pathParams(action.params), action.role, given, workspace);
  return {
    effects: ['read'],
    subject: `reads ${files.join(', ')}`,
    folder,
    paths: [],
    isUndoable: false,
    fingerprint: JSON.stringify([name, folder]),
    work: { folder, values },
  };
}

/** Reads the first of the files that is there, from the folder upwards. Throws PATH_NOT_FOUND. */
export async function runRead(
  { action, files }: ReadAction,
  { folder, values }: PreparedRead,
  workspace: Workspace,
): Promise<Result> {
  for (const here of upwards(folder, workspace.roots))
    for (const name of files) {
      const opened = await unlessMissing(rooted(workspace).open('file', name, { from: here }));
      if (!opened) continue;
      try {
        const text = (await opened.handle.read(0, readBytes)).toString('utf8');
        return answerFrom(name, text, action, values);
      } finally {
        await opened.handle.close();
      }
    }
  throw new ToolcribError(
    'PATH_NOT_FOUND',
    `${folder}: there is no ${files.join(', ')} here or above, up to the root.`,
    'Give the folder that has one as cwd.',
  );
}

/** A file of a project that is larger was not written by hand. */
const readBytes = 1024 * 1024;

function answerFrom(name: string, text: string, { out }: ProgramAction, values: Values): Result {
  const output = { stdout: text, stderr: '', exitCode: 0, files: { [name]: text }, after: {}, values };
  try {
    if (out) return reported(out, out.read(output), '', { command: name, notes: [] });
  } catch {
    // It is not written as usual: its text is shown.
  }
  return { content: [{ type: 'text', text: headAndTail(sanitize(text), 4000, 0, ' …') }] };
}
