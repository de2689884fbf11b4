import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll } from 'vitest';
import { checkParams } from '../../../src/core/check-params.ts';
import { ToolcribError } from '../../../src/core/errors.ts';
import type { Result } from '../../../src/core/tool.ts';
import { bindTool } from '../../../src/tools/define-tool.ts';
import { builtInTools } from '../../../src/tools/index.ts';
import { KnownFiles } from '../../../src/machine/known-files.ts';
import { History, type HistoryOptions } from '../../../src/machine/history/history.ts';
import { findRipgrep } from '../../../src/machine/programs/find-ripgrep.ts';
import type { Session } from '../../../src/machine/session.ts';
import { createProcesses } from '../../../src/machine/processes/process.ts';
import { findGit } from '../../machine/find-git.ts';
import { callContext, planAndRun } from '../../support/call-context.ts';
import { sessionOf } from '../../support/session.ts';

const folders: string[] = [];
afterAll(() =>
  Promise.all(
    folders.map((folder) => rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })),
  ),
);

/** A real temporary folder whose path has no symbolic links, removed when the file's tests have run. */
export async function temporaryFolder(): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'toolcrib-')));
  folders.push(folder);
  return folder;
}

/** Writes files, folders made as needed. */
export async function put(folder: string, files: Record<string, string | Buffer>): Promise<void> {
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), content);
  }
}

const { run } = createProcesses(process.platform === 'win32' ? 'win32' : 'linux');
const thisGit = () =>
  Promise.resolve({ program: findGit(), leading: [], env: { PATH: process.env['PATH'] ?? '' } });

type FileTool = Exclude<keyof typeof builtInTools, `git_${string}`>;

/** A session of its own, with a state folder of its own; by `state` several share one. */
export function freshSession(
  state = join(tmpdir(), `toolcrib-state-${process.pid}`),
  limits: Partial<HistoryOptions> = {},
): Session {
  if (!folders.includes(state)) folders.push(state);
  const history = new History({ run, git: thisGit, ...limits, state });
  return sessionOf({
    environment: {
      run,
      childEnvironment: () => Promise.resolve({ PATH: process.env['PATH'] ?? '' }),
    },
    ripgrep: () => findRipgrep(),
    knownFiles: new KnownFiles(),
    listings: new Map(),
    history: () => Promise.resolve(history),
  });
}

export const session: Session = freshSession();

export type Caller = (name: FileTool, given: object, signal?: AbortSignal) => Promise<Result>;

/** Calls file tools as the server does where nobody agrees to anything: parameters checked, failures thrown. */
export const callerFor = (...roots: string[]): Caller => callerWith(session, ...roots);

export const callerWith =
  (used: Session, ...roots: string[]): Caller =>
  async (name, given, signal = new AbortController().signal) => {
    const tool = bindTool((await builtInTools[name]()).default, used);
    const values = checkParams(tool.params, given);
    const result = await planAndRun(tool, values, await callContext(roots, { signal }), { agrees: false });
    return result;
  };

/** The text of a result. */
export function textOf(result: Result): string {
  return (result.content ?? [])
    .map((part) =>
      part.type === 'text'
        ? part.text
        : `<${part.type === 'image' ? part.mimeType : part.resource.mimeType}>`,
    )
    .join('');
}

/** The error of a call as `CODE: message`; fails when there is none, or one that is no ToolcribError. */
export async function failureOf(call: Promise<unknown>): Promise<string> {
  const outcome = await call.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  if (!('error' in outcome)) throw new Error(`did not fail: ${JSON.stringify(outcome.value).slice(0, 500)}`);
  if (!(outcome.error instanceof ToolcribError)) throw outcome.error;
  return `${outcome.error.code}: ${outcome.error.message}`;
}

/** A text that was read, without the numbers of its lines. */
export const withoutNumbers = (text: string): string => text.replaceAll(/^\d+\t/gm, '');
