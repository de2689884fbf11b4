import { readdirSync, readFileSync } from 'node:fs';
import { lstat, readdir, readFile, readlink } from 'node:fs/promises';
import { join, relative } from 'node:path';
import type { CheckpointOutcome, WorkTreeStates } from '../../src/machine/history/checkpoints.ts';
import { History, type HistoryOptions } from '../../src/machine/history/history.ts';
import { openWorkspace, type RootedWorkspace } from '../../src/machine/paths/workspace.ts';
import { createProcesses } from '../../src/machine/processes/process.ts';
import { findGit } from '../machine/find-git.ts';
import { temporaryFolder, temporaryRepository, type Repository } from './repository.ts';

export interface KeptTree extends Repository {
  /** The state folder. */
  state: string;
  history: History;
  checkpoints: Pick<WorkTreeStates, 'take' | 'begin' | 'isReady'>;
  workspace: RootedWorkspace;
  /** Begins a command; returns the note for the caller. */
  take(command?: string): Promise<string | undefined>;
  /** Does something as a command does it. */
  during(command: string, work: () => void): Promise<void>;
  /** Begins a command and returns the id of what it will have changed. */
  id(): Promise<string>;
  /** Ends what has begun. */
  end(): Promise<void>;
  /** Ends what has begun, and takes back all since an id. */
  restore(id: string, paths?: string[], dryRun?: boolean): Promise<Restored>;
}

export interface Restored {
  /** Names below the top. */
  done: { name: string; did: string }[];
  left: { name: string; why: string }[];
  /** The id by which that is taken back. */
  undo: string;
}

/** A repository whose states are kept. */
export async function keptTree(
  options: Partial<HistoryOptions> & { roots?: string[]; folder?: string; repository?: Repository } = {},
): Promise<KeptTree> {
  const repository = options.repository ?? temporaryRepository();
  const state = options.folder ?? join(temporaryFolder(), 'toolcrib');
  const { run } = createProcesses(process.platform === 'win32' ? 'win32' : 'linux');
  const history = new History({
    git: () => Promise.resolve({ program: findGit(), leading: [], env: { PATH: process.env['PATH'] ?? '' } }),
    run,
    ...options,
    state,
  });
  const { checkpoint: checkpoints } = history;
  const [root = repository.folder] = options.roots ?? [];
  const workspace = await openWorkspace([root]);
  const never = () => new AbortController().signal;
  const begun: CheckpointOutcome[] = [];
  const take = async (command = 'npm_run') => {
    const taken = await checkpoints.take(root, command, workspace, never());
    if (taken) begun.push(taken);
    return taken?.note;
  };
  const end = () => {
    for (const taken of begun.splice(0)) taken.ended();
    return history.settled();
  };
  const nameOf = (path: string) => relative(repository.folder, path);
  return {
    ...repository,
    state,
    history,
    checkpoints,
    workspace,
    take,
    end,
    async during(command, work) {
      await take(command);
      work();
      begun.pop()?.ended();
      await history.settled();
    },
    async id() {
      const said = await take();
      if (begun.at(-1)?.isKept !== true) throw new Error(`nothing kept: ${said}`);
      return newestNoted(join(state, 'history'));
    },
    async restore(since, names = [], dryRun = false) {
      await end();
      const paths = names.map((name) => join(repository.folder, name));
      const undone = await history.undo({ since, paths }, { workspace, dryRun, signal: never() });
      return {
        done: undone.files.map(({ path, did }) => ({ name: nameOf(path), did })),
        left: undone.left.map(({ path, error }) => ({ name: nameOf(path), why: error.message })),
        undo: undone.changes[0]?.by ?? 'none',
      };
    },
  };
}

/** The id of what was noted down last; a command is listed only when it has ended. */
function newestNoted(histories: string): string {
  const [log = ''] = readdirSync(histories);
  const lines = readFileSync(join(histories, log, 'history.jsonl'), 'utf8').split('\n');
  return JSON.parse(lines.at(-1)!).id;
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
