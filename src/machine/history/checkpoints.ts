import { readdirSync } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ToolcribError } from '../../core/errors.ts';
import type { Workspace } from '../../core/tool.ts';
import { readPrivate } from '../folders.ts';
import { isInside } from '../paths/inside.ts';
import { protectedReason } from '../paths/protected-paths.ts';
import type { Run } from '../processes/process.ts';
import { projectFolders } from '../programs/project-folders.ts';
import { restoreTree, type RestoreOptions, type Restored } from './restore.ts';
import { askGit, GitFailure, openShadow, shadowOf, type AskGit, type Git, type Shadow } from './shadow.ts';
import {
  checkpointsOf,
  forgetCurrent,
  mostFileBytes,
  readCurrent,
  takeSnapshot,
  tidyShadow,
  type Checkpoint,
} from './snapshot.ts';
import { findWorkTree } from './work-tree.ts';

/** What is told about a state, and whether nothing of it was left out. */
export interface Noted {
  /** Left out where it has been said before. */
  readonly note?: string;
  readonly isComplete: boolean;
}

/** The states of work trees that were kept before actions that can do anything to them. */
export interface Checkpoints {
  /**
   * Keeps the state of the work tree that a folder belongs to, and says so, or why not, in a few words; undefined for a
   * folder in no work tree. Never rejects; what takes longer than a moment goes on by itself.
   */
  take(folder: string, before: string, workspace: Workspace, signal: AbortSignal): Promise<Noted | undefined>;
  /** Takes the first state of a folder's work tree, which takes longest. Nobody waits for it; never throws. */
  begin(folder: string, workspace: Workspace): void;
  /** Whether the first state is complete, and the next would bring back each of these paths. */
  isReady(folder: string, paths: readonly string[], workspace: Workspace): Promise<boolean>;
  /** Those of work trees inside the roots, newest first. */
  list(workspace: Workspace): (Checkpoint & { readonly top: string })[];
  /**
   * Makes the files what they were, after keeping what they are. Throws NOT_FOUND, WRITE_FAILED (when the present could
   * not be kept; nothing was changed then), CANCELLED and what the gate throws for `paths`.
   */
  restore(id: string, how: RestoreOptions, workspace: Workspace, signal: AbortSignal): Promise<Restored>;
}

interface Options {
  readonly state: string | undefined;
  readonly run: Run;
  git(): Promise<Git | undefined>;
  readonly quotaBytes?: number;
}

/** So long a call waits for its state; the first one may take longer. */
const patienceMs = 4000;
const tidyMs = 60_000;

/** Keeps checkpoints in git folders of ours. Does nothing before it is used. */
export function createCheckpoints({ state, run, git, quotaBytes = 1024 ** 3 }: Options): Checkpoints {
  const shadows = state === undefined ? undefined : join(state, 'checkpoints');
  /** Never more than one at a time, for each shadow; who waits shares the next. */
  const last = new Map<string, Promise<unknown>>();
  const next = new Map<string, Promise<Checkpoint>>();
  const saidFirst = new Set<string>();
  let tidying: NodeJS.Timeout | undefined;

  const shadowFor = async (folder: string, { roots }: Workspace) => {
    const tree = shadows === undefined ? undefined : await findWorkTree(folder, roots);
    return shadows === undefined ? undefined : tree && shadowOf(tree, shadows);
  };

  /** Git, with nothing of the project on its way. Throws GitFailure when there is none. */
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
    last.set(
      folder,
      done.catch(() => {}),
    );
    return done;
  }

  function keep(shadow: Shadow, before: string, workspace: Workspace): Promise<Checkpoint> {
    const waiting = next.get(shadow.folder);
    if (waiting) return waiting;
    const kept = inTurn(shadow, () => {
      next.delete(shadow.folder);
      return snapshotOf(shadow, before, workspace);
    });
    next.set(shadow.folder, kept);
    return kept;
  }

  async function snapshotOf(shadow: Shadow, before: string, workspace: Workspace): Promise<Checkpoint> {
    const ask = await asker(workspace);
    openShadow(shadow);
    planTidying(shadow, ask);
    return takeSnapshot(shadow, ask, before).catch((error: unknown) => {
      if (!(error instanceof GitFailure) || error.exitCode === null) throw error;
      // By another list, and another index: files vanish while git reads them, and one of ours may be damaged.
      forgetCurrent(shadow);
      openShadow(shadow);
      return takeSnapshot(shadow, ask, before);
    });
  }

  /** When nothing has happened for a while. Keeps no process alive; what does not work now is tried after the next. */
  function planTidying(shadow: Shadow, ask: AskGit): void {
    clearTimeout(tidying);
    tidying = setTimeout(() => {
      inTurn(shadow, () => tidyShadow(shadow, ask, quotaBytes)).catch(() => {});
    }, tidyMs).unref();
  }

  function noteOf({ id, left }: Checkpoint): Noted {
    const names = left.names.map((name) => JSON.stringify(name)).join(', ');
    const more = left.count > 0 ? `; without ${left.count} too large or not readable: ${names}` : '';
    const note = `checkpoint ${id}${more} (restore_checkpoint brings the files back)`;
    return { note, isComplete: left.count === 0 };
  }

  function lateNote({ folder }: Shadow, isFirst: boolean): Noted {
    const isSaid = isFirst && saidFirst.has(folder);
    saidFirst.add(folder);
    const why = isFirst ? 'the first one is still being made' : `it takes longer than ${patienceMs / 1000} s`;
    return { ...(!isSaid && { note: `no checkpoint: ${why}` }), isComplete: false };
  }

  const allShadows = ({ roots }: Workspace): Shadow[] =>
    namesIn(shadows).flatMap((name) => {
      const shadow = shadows === undefined ? undefined : shadowIn(join(shadows, name));
      const isOpen = shadow?.scopes.every((scope) => roots.some((root) => isInside(scope, root)));
      return shadow && isOpen ? [shadow] : [];
    });

  return {
    async take(folder, before, workspace, signal) {
      try {
        const shadow = await shadowFor(folder, workspace);
        if (!shadow || signal.aborted) return undefined;
        const isFirst = readCurrent(shadow) === undefined;
        const kept = keep(shadow, before, workspace).then(noteOf);
        // What goes on by itself may fail by itself.
        kept.catch(() => {});
        const done = new AbortController();
        const waitMs = isFirst && saidFirst.has(shadow.folder) ? 0 : patienceMs;
        const late = sleep(waitMs, lateNote, { signal: AbortSignal.any([done.signal, signal]) });
        const first = await Promise.race([kept, late.catch(() => undefined)]).finally(() => done.abort());
        return typeof first === 'function' ? first(shadow, isFirst) : first;
      } catch (error) {
        return { note: `no checkpoint: ${messageOf(error)}`, isComplete: false };
      }
    },

    begin(folder, workspace) {
      const beginning = shadowFor(folder, workspace).then((shadow) => {
        if (shadow && !readCurrent(shadow)) return keep(shadow, 'the first change', workspace);
        return undefined;
      });
      // It is tried again, and told, before the first action.
      beginning.catch(() => {});
    },

    async isReady(folder, paths, workspace) {
      const shadow = await shadowFor(folder, workspace);
      if (!shadow || paths.length === 0 || !readCurrent(shadow) || !(await git())) return false;
      for (const path of paths) {
        const found = await lstat(path).catch(() => undefined);
        // What a folder holds is not known here, and what others run does not come back unasked.
        if (protectedReason(path) || (found && (!found.isFile() || found.size > mostFileBytes))) return false;
        if ((await shadowFor(await thereAbove(path), workspace))?.folder !== shadow.folder) return false;
      }
      const excludes = ['-c', `core.excludesFile=${join(shadow.top, '.git', 'info', 'exclude')}`];
      const input = `${paths.join('\0')}\0`;
      const { index } = readCurrent(shadow) ?? {};
      const asking = (await asker(workspace))(shadow, [...excludes, 'check-ignore', '-z', '--stdin'], {
        ...(index !== undefined && { index }),
        input,
      });
      // Git exits 1 when none of them is ignored.
      return asking.then(
        () => false,
        (error: unknown) => error instanceof GitFailure && error.exitCode === 1,
      );
    },

    list: (workspace) =>
      allShadows(workspace)
        .flatMap((shadow) => checkpointsOf(shadow).map((one) => ({ ...one, top: shadow.top })))
        .sort((a, b) => (a.at < b.at ? 1 : -1)),

    async restore(id, how, workspace, signal) {
      for (const shadow of allShadows(workspace)) {
        const checkpoint = checkpointsOf(shadow).find((one) => one.id === id);
        if (!checkpoint) continue;
        return inTurn(shadow, async () => {
          if (signal.aborted)
            throw new ToolcribError('CANCELLED', 'The call was cancelled; nothing was changed.');
          // A millisecond later: what was changed in this one was changed before.
          const since = Date.now() + 1;
          const present = await snapshotOf(shadow, 'restore_checkpoint', workspace).catch(
            (error: unknown) => {
              throw presentNotKept(messageOf(error));
            },
          );
          const ask = await asker(workspace);
          return restoreTree({ shadow, ask, present, wanted: checkpoint, how, since, workspace, signal });
        });
      }
      throw new ToolcribError(
        'NOT_FOUND',
        `${id}: there is no such checkpoint of a work tree inside the open folders.`,
        'list_checkpoints has those there are.',
      );
    },
  };
}

/** What says of itself where it belongs. */
function shadowIn(folder: string): Shadow | undefined {
  try {
    const { top, scopes } = JSON.parse(String(readPrivate(folder, 'about.json'))) as Shadow;
    const shadow = shadowOf({ top, scopes }, dirname(folder));
    return shadow.folder === folder ? shadow : undefined;
  } catch {
    // Damaged, or not ours.
    return undefined;
  }
}

function namesIn(folder: string | undefined): string[] {
  try {
    return folder === undefined ? [] : readdirSync(folder);
  } catch {
    // Nothing has been kept yet.
    return [];
  }
}

/** The folder that a path is in, or the nearest one above that is there. */
async function thereAbove(path: string): Promise<string> {
  const folder = dirname(path);
  return folder === path || (await lstat(folder).catch(() => undefined)) ? folder : thereAbove(folder);
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const presentNotKept = (why: string): ToolcribError =>
  new ToolcribError(
    'WRITE_FAILED',
    `Nothing was changed: the present state could not be kept first, so this could not be undone: ${why}.`,
  );
