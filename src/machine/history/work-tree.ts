import { lstat, realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isInside } from '../paths/inside.ts';

/** A git work tree, as far as it is open to the model. */
export interface WorkTree {
  /** The folder that has `.git`; it may lie above the roots. */
  readonly top: string;
  /** What of it lies inside the roots: itself, or the roots that are below it. */
  readonly scopes: readonly string[];
}

/**
 * The work tree that a folder belongs to; undefined when it belongs to none. Above the roots only the existence of
 * `.git` is asked for; of what is in there nothing is read.
 */
export async function findWorkTree(folder: string, roots: readonly string[]): Promise<WorkTree | undefined> {
  const real = await realpath(folder).catch(() => undefined);
  if (real === undefined || !roots.some((root) => isInside(real, root))) return undefined;
  for (let top = real; ; top = dirname(top)) {
    if (await isTop(top)) return { top, scopes: scopesOf(top, roots) };
    if (top === dirname(top)) return undefined;
  }
}

async function isTop(folder: string): Promise<boolean> {
  const found = await lstat(join(folder, '.git')).catch(() => undefined);
  if (!found) return false;
  // A linked worktree or a submodule has a file there. An empty folder of that name is none to git either.
  if (!found.isDirectory()) return found.isFile() || found.isSymbolicLink();
  return (await lstat(join(folder, '.git', 'HEAD')).catch(() => undefined)) !== undefined;
}

function scopesOf(top: string, roots: readonly string[]): string[] {
  if (roots.some((root) => isInside(top, root))) return [top];
  const below = roots.filter((root) => isInside(root, top));
  return below.filter((root) => !below.some((other) => other !== root && isInside(root, other))).toSorted();
}
