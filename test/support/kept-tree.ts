import { lstat, readdir, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { Checkpoints } from '../../src/machine/history/checkpoints.ts';
import { createHistory, type History, type HistoryOptions } from '../../src/machine/history/history.ts';
import { openWorkspace } from '../../src/machine/paths/workspace.ts';
import { createProcesses } from '../../src/machine/processes/process.ts';
import { findGit } from '../machine/find-git.ts';
import { temporaryFolder, temporaryRepository, type Repository } from './repository.ts';

export interface KeptTree extends Repository {
  /** The state folder. */
  state: string;
  history: History;
  checkpoints: Checkpoints;
  /** Takes a checkpoint; returns what the caller is told. */
  take(before?: string): Promise<string | undefined>;
  /** Takes one and returns its id. */
  id(): Promise<string>;
  restore(id: string, paths?: string[]): ReturnType<Checkpoints['restore']>;
}

/** A repository whose states are kept. */
export async function keptTree(
  options: Partial<HistoryOptions> & { roots?: string[]; folder?: string; repository?: Repository } = {},
): Promise<KeptTree> {
  const repository = options.repository ?? temporaryRepository();
  const state = options.folder ?? join(temporaryFolder(), 'toolcrib');
  const { run } = createProcesses(process.platform === 'win32' ? 'win32' : 'linux');
  const history = createHistory({
    git: () => Promise.resolve({ program: findGit(), leading: [], env: { PATH: process.env['PATH'] ?? '' } }),
    run,
    ...options,
    state,
  });
  const { checkpoint: checkpoints } = history;
  const workspace = await openWorkspace(options.roots ?? [repository.folder]);
  const never = () => new AbortController().signal;
  const take = async (before = 'npm_run') =>
    (await checkpoints.take(repository.folder, before, workspace, never()))?.note;
  return {
    ...repository,
    state,
    history,
    checkpoints,
    take,
    async id() {
      const said = await take();
      const id = /^checkpoint (c_\w+)/.exec(said ?? '')?.[1];
      if (!id) throw new Error(`no checkpoint: ${said}`);
      return id;
    },
    restore: (id, paths = []) =>
      checkpoints.restore(
        id,
        { paths: paths.map((path) => join(repository.folder, path)), dryRun: false },
        workspace,
        never(),
      ),
  };
}

/** All that is in a folder but `.git`: kind, permission to run, and bytes, by name (in Latin-1: names need not be text). */
export async function contentOf(folder: string): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  const visit = async (at: Buffer, above: string): Promise<void> => {
    for (const name of await readdir(at, { encoding: 'buffer' })) {
      const path = Buffer.concat([at, Buffer.from('/'), name]);
      const shown = above + name.toString('latin1');
      if (shown === '.git') continue;
      const facts = await lstat(path);
      if (facts.isDirectory()) await visit(path, `${shown}/`);
      else if (facts.isSymbolicLink()) found[shown] = `-> ${await readlink(path)}`;
      else if (facts.isFile())
        found[shown] = `${facts.mode & 0o100 ? 'x' : '-'} ${(await readFile(path)).toString('latin1')}`;
    }
  };
  await visit(Buffer.from(folder), '');
  return found;
}
