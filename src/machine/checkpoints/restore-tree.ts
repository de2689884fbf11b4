import { join, relative } from 'node:path';
import { ToolcribError } from '../../core/errors.ts';
import type { Workspace } from '../../core/tool.ts';
import { bringBack, type BroughtBack } from './bring-back.ts';
import { byteName, shownName, type ByteName } from './changed-files.ts';
import { readClosed } from './closed-files.ts';
import { isAtOrBelow, openScopes } from './open-scopes.ts';
import { couldHoldProtected, protectedError, refuseProtected } from '../paths/protected-paths.ts';
import { noteRestore, removeStaged } from './restore-remains.ts';
import { GitFailure, type Git } from './shadow-repository.ts';
import type { Shadow } from './shadow-store.ts';
import { changesBetween, stage, type TreeChange } from './tree-changes.ts';

/** One tree is to be made the other, in a shadow's work tree. */
export interface Restoration {
  readonly shadow: Shadow;
  readonly git: Git;
  readonly trees: readonly [present: string, wanted: string];
  /** Absolute paths; all when empty. */
  readonly paths: readonly string[];
  readonly dryRun: boolean;
  /** When the present began to be read. */
  readonly since: number;
  readonly workspace: Workspace;
  readonly signal: AbortSignal;
}

/** Brings files back, or tells which with `dryRun`. Throws NOT_FOUND when the repository does not have them any more. */
export async function restoreTree(restoration: Restoration): Promise<BroughtBack> {
  const { shadow, git, trees, paths, dryRun, signal } = restoration;
  try {
    const all = await changesBetween(shadow, git, trees, signal);
    const changes = paths.length === 0 ? all : all.filter(isBelow(paths, shadow.top));
    if (changes.length === 0) return { done: [], left: [] };
    return dryRun ? await allowed(changes, shadow.top) : await apply(changes, restoration);
  } catch (error) {
    if (!(error instanceof GitFailure)) throw error;
    throw new ToolcribError(
      'NOT_FOUND',
      `The checkpoint cannot be read any more; nothing was changed. git said: ${error.message}`,
      'list_checkpoints has others.',
    );
  }
}

/** What would be done, as far as names tell. */
async function allowed(changes: readonly TreeChange[], top: string): Promise<BroughtBack> {
  const done: TreeChange[] = [];
  const left: { name: ByteName; why: string }[] = [];
  for (const change of changes) {
    const refusal = await refuse(top, change).then(
      () => undefined,
      (error: unknown) => {
        if (error instanceof ToolcribError) return error.message;
        throw error;
      },
    );
    if (refusal === undefined) done.push(change);
    else left.push({ name: change.name, why: refusal });
  }
  return { done, left };
}

/** A file that somebody runs unasked does not come back unasked either, nor a link that makes others such files. */
async function refuse(top: string, { name, to }: TreeChange): Promise<void> {
  const [path, given] = [join(top, shownName(name)), shownName(name)];
  await refuseProtected({ path }, given);
  if (to?.kind === 'link' && couldHoldProtected(path))
    throw protectedError(given, 'as a link it could lead to files that are run');
}

async function apply(
  changes: readonly TreeChange[],
  { shadow, git, since, workspace, signal }: Restoration,
): Promise<BroughtBack> {
  const names = changes.filter(({ to }) => to).map(({ name }) => name);
  const { key, temporary, end } = await noteRestore(shadow, names);
  try {
    const staged = await stage(shadow, git, { changes, key, signal });
    const scopes = await openScopes(shadow, workspace);
    try {
      return await bringBack({
        changes,
        staged,
        temporary,
        refuse: (change) => refuse(shadow.top, change),
        isClosed: readClosed(shadow),
        scopeOf: scopes.scopeOf,
        since,
        signal,
      });
    } finally {
      await scopes.close();
    }
  } finally {
    await removeStaged(shadow, key);
    await end();
  }
}

function isBelow(paths: readonly string[], top: string): ({ name }: TreeChange) => boolean {
  const places = paths.map((path) => byteName(relative(top, path)));
  return ({ name }) => places.some((place) => isAtOrBelow(name, place));
}
