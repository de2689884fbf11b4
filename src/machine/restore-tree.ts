import { join, relative } from 'node:path';
import { ToolcribError } from '../core/errors.ts';
import type { Workspace } from '../core/tool.ts';
import { bringBack, type BroughtBack } from './bring-back.ts';
import { byteName, shownName, type ByteName } from './changed-files.ts';
import { isAtOrBelow, openScopes } from './open-scopes.ts';
import { refuseProtected } from './protected-paths.ts';
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
    const refusal = await refuseName(top, change.name).then(
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

/** A file that somebody runs unasked does not come back unasked either. */
const refuseName = (top: string, name: ByteName): Promise<void> =>
  refuseProtected({ path: join(top, shownName(name)) }, shownName(name));

async function apply(
  changes: readonly TreeChange[],
  { shadow, git, since, workspace, signal }: Restoration,
): Promise<BroughtBack> {
  const staged = await stage(shadow, git, changes, signal);
  try {
    const scopes = await openScopes(shadow, workspace);
    try {
      const { scopeOf } = scopes;
      const refuse = (name: ByteName) => refuseName(shadow.top, name);
      return await bringBack({ changes, staged, refuse, scopeOf, since, signal });
    } finally {
      await scopes.close();
    }
  } finally {
    await staged.remove();
  }
}

function isBelow(paths: readonly string[], top: string): ({ name }: TreeChange) => boolean {
  const places = paths.map((path) => byteName(relative(top, path)));
  return ({ name }) => places.some((place) => isAtOrBelow(name, place));
}
