import { setTimeout as sleep } from 'node:timers/promises';
import type { Workspace } from '../../core/tool.ts';
import { projectFolders } from '../programs/project-folders.ts';
import { GitFailure, type Git } from './shadow-repository.ts';
import {
  addCheckpoint,
  checkpointsOf,
  discardShadow,
  forgetCurrent,
  openShadow,
  seenAgain,
  writeCurrent,
  type Checkpoint,
  type Shadow,
} from './shadow-store.ts';
import { NoSnapshot, Overgrown, takeSnapshot, type Limits } from './snapshot.ts';

/** A state that is kept, and what has to be said about that. */
export interface Kept {
  readonly checkpoint: Checkpoint;
  readonly git: Git;
  readonly notes: readonly string[];
}

export interface Keeping {
  readonly shadow: Shadow;
  /** The git of this machine; undefined when there is none. */
  readonly git: Git | undefined;
  /** The action it is kept for. */
  readonly before: string;
  readonly workspace: Workspace;
  readonly limits: Limits;
}

/** How long git may take to end when it is told to. */
const graceMs = 300;

/**
 * Keeps the present state of a work tree, or finds the checkpoint that has it. Throws NoSnapshot at a limit and without
 * git, GitFailure, and what the system says.
 */
export async function keepState({ shadow, git: found, before, workspace, limits }: Keeping): Promise<Kept> {
  const git = await gitFor(found, workspace.roots);
  return inTime(limits, (signal) =>
    mending(shadow, signal, async () => {
      await openShadow(shadow);
      const { index, tree, same, notes } = await takeSnapshot({ shadow, git, limits, workspace, signal });
      const known = same && (await seenAgain(shadow, same)) ? same : undefined;
      const checkpoint = known ?? (await addCheckpoint(shadow, { tree, before }));
      await writeCurrent(shadow, { index, checkpoint });
      return { checkpoint, git, notes };
    }),
  );
}

/** Git, with nothing of the project on its way. */
async function gitFor(git: Git | undefined, roots: readonly string[]): Promise<Git> {
  if (!git) throw new NoSnapshot('no git of this machine was found that can be used', true);
  const project = await projectFolders(roots);
  if (await project.holds(git.program)) throw new NoSnapshot('git lies in the project', true);
  return { ...git, env: { ...git.env, PATH: project.pathWithout(git.env['PATH'] ?? '') } };
}

/** What git says of a repository that a full disk or a power failure has broken. */
const broken =
  /^fatal: (?:not a git repository|bad config|git-write-tree: error building trees|unable to read tree|.* corrupt)/;
/** What it says of files that vanish or change while it reads them. */
const moving = /^fatal: (?:Unable to process path|unable to (?:stat|index file))/i;

/** Tries again after a failure that can be mended: by another list, another index, or another repository. */
async function mending(shadow: Shadow, signal: AbortSignal, keep: () => Promise<Kept>): Promise<Kept> {
  const mend = async (error: unknown): Promise<void> => {
    if (!(error instanceof GitFailure) || signal.aborted || broken.test(error.message)) throw error;
    if (!moving.test(error.message)) await forgetCurrent(shadow);
  };
  try {
    return await keep().catch(async (error: unknown) => {
      await mend(error);
      return keep();
    });
  } catch (error) {
    const damaged = error instanceof GitFailure && broken.test(error.message);
    if (signal.aborted || !(damaged || error instanceof Overgrown)) throw error;
    const lost = (await checkpointsOf(shadow)).length;
    await discardShadow(shadow);
    const kept = await keep();
    if (lost === 0) return kept;
    const why = damaged ? 'was damaged' : 'took more than 1 GB';
    return { ...kept, notes: [...kept.notes, `what had been kept before (${lost}) ${why} and is gone`] };
  }
}

/** Ends a task at its limit, and gives git a moment to clean up; then it is left alone. */
async function inTime<T>({ ms }: Limits, task: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const limit = new AbortController();
  const done = new AbortController();
  const timer = setTimeout(() => limit.abort(), ms);
  const tooLong = () => new NoSnapshot(`it would have taken longer than ${ms / 1000} s`, false);
  const hangs = sleep(ms + graceMs, undefined, { signal: done.signal }).then(
    () => Promise.reject(tooLong()),
    // It was not needed.
    () => new Promise<never>(() => {}),
  );
  try {
    return await Promise.race([task(limit.signal), hangs]);
  } catch (error) {
    throw limit.signal.aborted && !(error instanceof NoSnapshot) ? tooLong() : error;
  } finally {
    clearTimeout(timer);
    done.abort();
  }
}
