import { ToolcribError } from '../../core/errors.ts';
import type { Workspace } from '../../core/tool.ts';
import type { BroughtBack } from './bring-back.ts';
import { isInside } from '../paths/inside.ts';
import { keepState } from './keep-state.ts';
import { createTurns, type Turns } from '../limited.ts';
import { sweepRestores } from './restore-remains.ts';
import { restoreTree } from './restore-tree.ts';
import { differenceIn } from './tree-changes.ts';
import type { Git } from './shadow-repository.ts';
import { allShadows, checkpointsOf, shadowOf, type Checkpoint, type Shadow } from './shadow-store.ts';
import { NoSnapshot, type Limits } from './snapshot.ts';
import { createTidying } from './tidy-shadows.ts';
import { findWorkTree } from './work-tree.ts';

/** The states of work trees that were kept before actions that can do anything to them. */
export interface Checkpoints {
  /**
   * Keeps the state of the work tree that a folder belongs to, and says so, or why not, in a few words; undefined for a
   * folder in no work tree. Never rejects, and takes no longer than the limits.
   */
  take(folder: string, before: string, workspace: Workspace, signal: AbortSignal): Promise<Noted | undefined>;
  /** Whether a state could be kept, as far as that is known before it is tried. */
  isReady(folder: string, workspace: Workspace): Promise<boolean>;
  /** Those of work trees inside the roots, newest first. */
  list(workspace: Workspace): Promise<(Checkpoint & { top: string })[]>;
  /**
   * Makes the files what they were, after keeping what they are. Throws NOT_FOUND, WRITE_FAILED (when the present could
   * not be kept; nothing was changed then), CANCELLED and what the gate throws for `paths`.
   */
  restore(id: string, how: RestoreOptions, workspace: Workspace, signal: AbortSignal): Promise<Restored>;
  /** Forgets what is too old or too much. Done by itself when nothing has happened for a while. */
  tidy(): Promise<void>;
}

/** What is told about a state, and whether nothing of it was left out. */
export interface Noted {
  readonly note: string;
  readonly isComplete: boolean;
}

export interface RestoreOptions {
  /** Only these, or what is below them; all when empty. */
  readonly paths: readonly string[];
  readonly dryRun: boolean;
}

export interface Restored extends BroughtBack {
  readonly top: string;
  /** The checkpoint of what was there before. */
  readonly undo: string;
  /** What was done, or would be, as a unified difference; of many files, only of the first. */
  readonly diff: string;
  readonly notes: readonly string[];
}

export interface CheckpointOptions {
  /** Where they are kept: a folder inside the state folder. Undefined when there is none. */
  readonly folder: string | undefined;
  /** The git of this machine; undefined when there is none. */
  git(): Promise<Git | undefined>;
  /** Of a checkpoint before an action. */
  readonly limits?: Limits;
  /** Of the one before a restore. */
  readonly restoreLimits?: Limits;
}

const megabyte = 1024 * 1024;
const usualLimits: Limits = { ms: 2000, bytes: 256 * megabyte };
/** Somebody waits for it, and without it nothing is brought back. */
const usualRestoreLimits: Limits = { ms: 30_000, bytes: 1024 * megabyte };
/** A tree that was too much is not looked at again for this long. */
const restMs = 10 * 60_000;

/** Keeps checkpoints in a folder of ours. Does nothing before it is used. */
export function createCheckpoints(options: CheckpointOptions): Checkpoints {
  const { folder, limits = usualLimits, restoreLimits = usualRestoreLimits } = options;
  const resting = new Map<string, { until: number; why: string }>();
  const taking = new Map<string, Promise<Noted>>();
  const restoring = new Map<string, Turns>();
  const tidying = createTidying(folder, () => options.git());

  async function keep(shadow: Shadow, before: string, workspace: Workspace, within: Limits) {
    tidying.postpone();
    try {
      // What cannot be removed is no reason to do without.
      await sweepRestores(shadow, workspace).catch(() => {});
      return await keepState({ shadow, git: await options.git(), before, workspace, limits: within });
    } finally {
      tidying.plan();
    }
  }

  async function noteOn(shadow: Shadow, before: string, workspace: Workspace): Promise<Noted> {
    const none = (why: string): Noted => ({ note: `no checkpoint: ${why}`, isComplete: false });
    const rest = resting.get(shadow.folder);
    if (rest && rest.until > Date.now()) return none(rest.why);
    resting.delete(shadow.folder);
    try {
      const { checkpoint, notes } = await keep(shadow, before, workspace, limits);
      const more = notes.map((note) => `; ${note}`).join('');
      return {
        note: `checkpoint ${checkpoint.id}${more} (restore_checkpoint brings the files back)`,
        isComplete: notes.length === 0,
      };
    } catch (error) {
      if (!(error instanceof NoSnapshot) || error.again) return none(reasonOf(error));
      const why = `${error.message}; not tried again for ${restMs / 60_000} minutes`;
      resting.set(shadow.folder, { until: Date.now() + restMs, why });
      return none(why);
    }
  }

  const shadowsIn = async ({ roots }: Workspace): Promise<Shadow[]> => {
    const all = folder === undefined ? [] : await allShadows(folder);
    return all.filter(({ scopes }) => scopes.every((scope) => roots.some((root) => isInside(scope, root))));
  };

  async function find(id: string, workspace: Workspace) {
    for (const shadow of await shadowsIn(workspace)) {
      const checkpoint = (await checkpointsOf(shadow)).find((one) => one.id === id);
      if (checkpoint) return { shadow, checkpoint };
    }
    throw new ToolcribError(
      'NOT_FOUND',
      `${id}: there is no such checkpoint of a work tree inside the open folders.`,
      'list_checkpoints has those there are; they are kept for 14 days.',
    );
  }

  return {
    async take(from, before, workspace, signal) {
      if (folder === undefined || signal.aborted) return undefined;
      const tree = await findWorkTree(from, workspace.roots);
      if (!tree) return undefined;
      const shadow = shadowOf(tree, folder);
      // Whoever comes while one is taken starts its program after that: it is the state before both.
      const task = taking.get(shadow.folder) ?? noteOn(shadow, before, workspace);
      taking.set(shadow.folder, task);
      const forget = () => {
        if (taking.get(shadow.folder) === task) taking.delete(shadow.folder);
      };
      task.then(forget, forget);
      const done = new AbortController();
      return Promise.race([task, untilAborted(signal, done.signal)]).finally(() => done.abort());
    },
    async isReady(from, workspace) {
      const tree = folder === undefined ? undefined : await findWorkTree(from, workspace.roots);
      if (folder === undefined || !tree || !(await options.git())) return false;
      return (resting.get(shadowOf(tree, folder).folder)?.until ?? 0) <= Date.now();
    },
    async list(workspace) {
      const shadows = await shadowsIn(workspace);
      const all = await Promise.all(
        shadows.map(async (shadow) =>
          (await checkpointsOf(shadow)).map((one) => ({ ...one, top: shadow.top })),
        ),
      );
      return all.flat().toSorted((a, b) => (a.at < b.at ? 1 : -1));
    },
    async restore(id, { paths, dryRun }, workspace, signal) {
      const { shadow, checkpoint } = await find(id, workspace);
      const wanted = await Promise.all(paths.map((path) => workspace.resolve(path)));
      const turns = restoring.get(shadow.folder) ?? createTurns(1);
      restoring.set(shadow.folder, turns);
      const endTurn = await turns.take({ signal });
      try {
        if (!endTurn) throw cancelled();
        // A millisecond later: what was changed in this one was changed before.
        const since = Date.now() + 1;
        const present = await keep(shadow, 'restore_checkpoint', workspace, restoreLimits).catch(
          (error: unknown) => {
            throw presentNotKept(reasonOf(error));
          },
        );
        if (signal.aborted) throw cancelled();
        const compared = {
          shadow,
          git: present.git,
          trees: [present.checkpoint.tree, checkpoint.tree] as const,
          signal,
        };
        const brought = await restoreTree({
          ...compared,
          paths: wanted,
          dryRun,
          since,
          workspace,
        });
        // What was done is done, also when it cannot be shown.
        const diff = await differenceIn(brought.done, compared).catch(() => '');
        return { top: shadow.top, undo: present.checkpoint.id, notes: present.notes, diff, ...brought };
      } finally {
        endTurn?.();
      }
    },
    tidy: () => tidying.now(),
  };
}

/** Resolves when a signal comes, listening no longer than until `done`. */
const untilAborted = (signal: AbortSignal, done: AbortSignal): Promise<undefined> =>
  new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(undefined), { once: true, signal: done });
  });

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const presentNotKept = (why: string): ToolcribError =>
  new ToolcribError(
    'WRITE_FAILED',
    `Nothing was changed: the present state could not be kept first, so this could not be undone: ${why}.`,
  );

const cancelled = (): ToolcribError =>
  new ToolcribError('CANCELLED', 'The call was cancelled; nothing was changed.');
