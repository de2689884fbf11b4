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
import { createKeeper, messageOf, type Keeper } from './keeper.ts';
import { mostFileBytes } from './listed-files.ts';
import { restoreTree, type RestoreOptions, type Restored } from './restore.ts';
import { GitFailure, shadowOf, type Git, type Shadow } from './shadow.ts';
import { checkpointsOf, excludesOf, readCurrent, type Checkpoint } from './snapshot.ts';
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
}

/** So long a call waits for its state; the first one may take longer. */
const patienceMs = 4000;

/** Keeps checkpoints in git folders of ours. Does nothing before it is used. */
export function createCheckpoints({ state, run, git }: Options): Checkpoints {
  const shadows = state === undefined ? undefined : join(state, 'checkpoints');
  const keeper = createKeeper({ run, git });
  const saidFirst = new Set<string>();
  const shadowFor = async (folder: string, { roots }: Workspace): Promise<Shadow | undefined> => {
    const tree = shadows === undefined ? undefined : await findWorkTree(folder, roots);
    return shadows === undefined ? undefined : tree && shadowOf(tree, shadows);
  };
  const list: Checkpoints['list'] = (workspace) =>
    shadowsIn(shadows, workspace)
      .flatMap((shadow) => checkpointsOf(shadow).map((one) => ({ ...one, top: shadow.top })))
      .sort((a, b) => (a.at < b.at ? 1 : -1));

  return {
    async take(folder, before, workspace, signal) {
      try {
        const shadow = await shadowFor(folder, workspace);
        if (!shadow || signal.aborted) return undefined;
        const isFirst = readCurrent(shadow) === undefined;
        const isSaid = isFirst && saidFirst.has(shadow.folder);
        const kept = keeper.keep(shadow, before, workspace).then(noteOf);
        const noted = await inTime(kept, isSaid ? 0 : patienceMs, signal);
        if (noted === 'late') saidFirst.add(shadow.folder);
        return noted === 'late' ? lateNote(isFirst, isSaid) : noted;
      } catch (error) {
        return { note: `no checkpoint: ${messageOf(error)}`, isComplete: false };
      }
    },

    begin(folder, workspace) {
      const beginning = shadowFor(folder, workspace).then((shadow) =>
        shadow && !readCurrent(shadow) ? keeper.keep(shadow, 'the first change', workspace) : undefined,
      );
      // It is tried again, and told, before the first action.
      beginning.catch(() => {});
    },

    async isReady(folder, paths, workspace) {
      const shadow = await shadowFor(folder, workspace);
      if (!shadow || paths.length === 0 || !readCurrent(shadow) || !(await git())) return false;
      const areKept = await Promise.all(
        paths.map(async (path) => {
          const nearest = (await couldBeKept(path)) && (await shadowFor(await thereAbove(path), workspace));
          return nearest && nearest.folder === shadow.folder;
        }),
      );
      return areKept.every(Boolean) && !(await isIgnored(paths, shadow, workspace, keeper));
    },

    list,

    async restore(id, how, workspace, signal) {
      const shadow = shadowsIn(shadows, workspace).find((one) =>
        checkpointsOf(one).some((kept) => kept.id === id),
      );
      const wanted = shadow && checkpointsOf(shadow).find((kept) => kept.id === id);
      if (!shadow || !wanted) throw unknown(id);
      // A millisecond later: what was changed in this one was changed before.
      const since = Date.now() + 1;
      return keeper.withPresent(shadow, workspace, (present, ask) => {
        if (signal.aborted)
          throw new ToolcribError('CANCELLED', 'The call was cancelled; nothing was changed.');
        return restoreTree({ shadow, ask, present, wanted, how, since, workspace, signal });
      });
    },
  };
}

function noteOf({ id, left }: Checkpoint): Noted {
  const names = left.names.map((name) => JSON.stringify(name)).join(', ');
  const more = left.count > 0 ? `; without ${left.count} too large or not readable: ${names}` : '';
  const note = `checkpoint ${id}${more} (restore_checkpoint brings the files back)`;
  return { note, isComplete: left.count === 0 };
}

function lateNote(isFirst: boolean, isSaid: boolean): Noted {
  const why = isFirst ? 'the first one is still being made' : `it takes longer than ${patienceMs / 1000} s`;
  return { ...(!isSaid && { note: `no checkpoint: ${why}` }), isComplete: false };
}

/** What is late goes on by itself; undefined when the call is cancelled. */
async function inTime<T>(task: Promise<T>, ms: number, signal: AbortSignal): Promise<T | 'late' | undefined> {
  // It may fail by itself as well.
  task.catch(() => {});
  const done = new AbortController();
  const late = sleep(ms, 'late' as const, { signal: AbortSignal.any([done.signal, signal]) });
  const given = late.catch(() => undefined);
  return Promise.race([task, given]).finally(() => done.abort());
}

/** What a folder holds is not known here, and what others run does not come back unasked. */
async function couldBeKept(path: string): Promise<boolean> {
  const found = await lstat(path).catch(() => undefined);
  return !protectedReason(path) && (!found || (found.isFile() && found.size <= mostFileBytes));
}

/** The folder that a path is in, or the nearest one above that is there. */
async function thereAbove(path: string): Promise<string> {
  const folder = dirname(path);
  return folder === path || (await lstat(folder).catch(() => undefined)) ? folder : thereAbove(folder);
}

/** Whether git ignores one of them, or cannot tell. */
async function isIgnored(
  paths: readonly string[],
  shadow: Shadow,
  workspace: Workspace,
  { asker }: Keeper,
): Promise<boolean> {
  const ask = await asker(workspace);
  const { index } = readCurrent(shadow) ?? {};
  const call = { input: `${paths.join('\0')}\0`, ...(index !== undefined && { index }) };
  return ask(shadow, [...excludesOf(shadow), 'check-ignore', '-z', '--stdin'], call).then(
    () => true,
    // Git exits 1 when none is.
    (error: unknown) => !(error instanceof GitFailure && error.exitCode === 1),
  );
}

/** Those of work trees inside the roots, by what each says of itself in its own place. */
function shadowsIn(shadows: string | undefined, { roots }: Workspace): Shadow[] {
  return namesIn(shadows).flatMap((name) => {
    try {
      const folder = join(shadows ?? '', name);
      const { top, scopes } = JSON.parse(String(readPrivate(folder, 'about.json'))) as Shadow;
      const shadow = shadowOf({ top, scopes }, dirname(folder));
      const isOpen = scopes.every((scope) => roots.some((root) => isInside(scope, root)));
      return isOpen && shadow.folder === folder ? [shadow] : [];
    } catch {
      // Damaged, or not ours.
      return [];
    }
  });
}

function namesIn(folder: string | undefined): string[] {
  try {
    return folder === undefined ? [] : readdirSync(folder);
  } catch {
    // Nothing has been kept yet.
    return [];
  }
}

const unknown = (id: string): ToolcribError =>
  new ToolcribError(
    'NOT_FOUND',
    `${id}: there is no such checkpoint of a work tree inside the open folders.`,
    'list_checkpoints has those there are.',
  );
