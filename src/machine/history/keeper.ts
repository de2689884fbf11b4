import { ToolcribError } from '../../core/errors.ts';
import type { Workspace } from '../../core/tool.ts';
import type { Run } from '../processes/process.ts';
import { projectFolders } from '../programs/project-folders.ts';
import { askGit, GitFailure, openShadow, type AskGit, type Git, type Shadow } from './shadow.ts';
import { forgetCurrent, takeSnapshot, type Checkpoint } from './snapshot.ts';
import { tidyShadow } from './tidy-shadow.ts';

/** Takes the states of work trees, never more than one at a time. */
export interface Keeper {
  /** Who comes while one is taken shares the next. Throws GitFailure, and what the system says. */
  keep(shadow: Shadow, before: string, workspace: Workspace): Promise<Checkpoint>;
  /** Does something with the present state while no other is taken. Throws WRITE_FAILED when that cannot be kept. */
  withPresent<T>(
    shadow: Shadow,
    workspace: Workspace,
    work: (present: Checkpoint, ask: AskGit) => Promise<T>,
  ): Promise<T>;
  /** Git, with nothing of the project on its way. Throws GitFailure when there is none. */
  asker(workspace: Workspace): Promise<AskGit>;
}

interface Options {
  readonly run: Run;
  git(): Promise<Git | undefined>;
}

const quietMs = 60_000;

export function createKeeper({ run, git }: Options): Keeper {
  const last = new Map<string, Promise<unknown>>();
  const next = new Map<string, Promise<Checkpoint>>();

  async function asker({ roots }: Workspace): Promise<AskGit> {
    const found = await git();
    if (!found) throw new GitFailure('no git of this machine was found that can be used', null);
    const project = await projectFolders(roots);
    if (await project.holds(found.program)) throw new GitFailure('git lies in the project', null);
    return askGit(run, {
      ...found,
      env: { ...found.env, PATH: project.pathWithout(found.env['PATH'] ?? '') },
    });
  }

  function inTurn<T>({ folder }: Shadow, work: () => Promise<T>): Promise<T> {
    const done = (last.get(folder) ?? Promise.resolve()).then(work);
    const ended = done.catch(() => {});
    last.set(folder, ended);
    return done;
  }

  const tidyLater = createTidying(inTurn);
  const snapshotOf = async (shadow: Shadow, before: string, ask: AskGit) => {
    tidyLater(shadow, ask);
    return mending(shadow, () => takeSnapshot(shadow, ask, before));
  };

  return {
    asker,
    keep(shadow, before, workspace) {
      const waiting = next.get(shadow.folder);
      if (waiting) return waiting;
      const kept = inTurn(shadow, async () => {
        next.delete(shadow.folder);
        return snapshotOf(shadow, before, await asker(workspace));
      });
      next.set(shadow.folder, kept);
      return kept;
    },
    withPresent: (shadow, workspace, work) =>
      inTurn(shadow, async () => {
        const kept = asker(workspace).then(async (ask) => ({
          ask,
          present: await snapshotOf(shadow, 'restore_checkpoint', ask),
        }));
        const { ask, present } = await kept.catch((error: unknown) => {
          throw presentNotKept(error);
        });
        return work(present, ask);
      }),
  };
}

/** Tidies up when nothing has happened for a while, and keeps no process alive; it is tried again after the next. */
function createTidying(inTurn: (shadow: Shadow, work: () => Promise<void>) => Promise<void>) {
  let timer: NodeJS.Timeout | undefined;
  return (shadow: Shadow, ask: AskGit): void => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      inTurn(shadow, () => tidyShadow(shadow, ask)).catch(() => {});
    }, quietMs).unref();
  };
}

/** Tries again by another list and another index: files vanish while git reads them, and one of ours may be damaged. */
async function mending<T>(shadow: Shadow, take: () => Promise<T>): Promise<T> {
  openShadow(shadow);
  return take().catch((error: unknown) => {
    if (!(error instanceof GitFailure) || error.exitCode === null) throw error;
    forgetCurrent(shadow);
    openShadow(shadow);
    return take();
  });
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const presentNotKept = (error: unknown): ToolcribError =>
  new ToolcribError(
    'WRITE_FAILED',
    `Nothing was changed: the present state could not be kept first, so this could not be undone: ${messageOf(error)}.`,
  );
