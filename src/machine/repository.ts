import { lstat, readdir, readFile, realpath } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { Effect, Repository } from '../core/discoverer.ts';
import { ToolcribError } from '../core/errors.ts';
import type { Workspace } from '../core/tool.ts';
import { upwards } from './upwards.ts';

/**
 * Finds the repository that a folder belongs to (returns where it keeps its data), and makes sure that all of it lies inside the roots and, before an
 * action with `write`, that no symbolic link leads what is written there elsewhere. Throws PATH_NOT_FOUND,
 * PATH_OUTSIDE_ROOTS and REPO_UNTRUSTED.
 */
export async function checkRepository(
  { folder: name, written }: Repository,
  folder: string,
  effects: readonly Effect[],
  workspace: Workspace,
): Promise<string> {
  const place = await find(name, folder, workspace.roots);
  if (place === undefined) {
    throw new ToolcribError(
      'PATH_NOT_FOUND',
      `${folder}: there is no repository (${name}) here or above, up to the root.`,
      'Give a folder inside one as cwd. If it begins above the root, the server has to be started with --root at its top.',
    );
  }
  const data = await dataFolder(place, workspace);
  const shared = await firstLine(join(data, 'commondir'));
  if (shared !== undefined && !(await isOwnWorktree(data, place)))
    await workspace.resolve(resolve(data, shared));
  if (effects.includes('write')) await refuseLinks(data, written);
  return data;
}

/** The nearest `.git`, whatever it is. */
async function find(name: string, folder: string, roots: readonly string[]): Promise<string | undefined> {
  for (const here of upwards(folder, roots)) {
    if (await lstat(join(here, name)).catch(() => undefined)) return join(here, name);
  }
  return undefined;
}

/** Where a repository keeps its data: the folder itself, or what a file in its place points to. */
async function dataFolder(place: string, workspace: Workspace): Promise<string> {
  const facts = await lstat(place);
  if (facts.isDirectory()) return place;
  if (!facts.isFile()) throw untrusted(place, 'is neither a folder nor a file');
  const target = /^gitdir: (.+)$/.exec((await firstLine(place)) ?? '')?.[1];
  if (target === undefined) throw untrusted(place, 'does not say where the repository is');
  const data = await realpath(resolve(dirname(place), target)).catch(() => undefined);
  if (data === undefined) throw untrusted(place, 'points to nothing');
  if (!(await isOwnWorktree(data, place))) await workspace.resolve(data, { kind: 'folder', mustExist: true });
  return data;
}

/** The main repository of a linked worktree knows it, and nothing in the worktree can make it say so. */
async function isOwnWorktree(data: string, place: string): Promise<boolean> {
  const back = await firstLine(join(data, 'gitdir'));
  if (back === undefined || !/[\\/]worktrees[\\/][^\\/]+$/.test(data)) return false;
  const known = await realpath(resolve(data, back)).catch(() => undefined);
  return known !== undefined && known === (await realpath(place).catch(() => undefined));
}

async function firstLine(file: string): Promise<string | undefined> {
  const facts = await lstat(file).catch(() => undefined);
  if (!facts?.isFile() || facts.size > 16_384) return undefined;
  return (await readFile(file, 'utf8')).split('\n')[0]?.trimEnd();
}

async function refuseLinks(data: string, { deep, leave }: Repository['written']): Promise<void> {
  const top = await readdir(data, { withFileTypes: true });
  const link = top.find((entry) => entry.isSymbolicLink() && !leave.includes(entry.name));
  if (link)
    throw untrusted(
      join(data, link.name),
      'is a symbolic link, through which something else would be written',
    );
  for (const name of deep) {
    const below = await readdir(join(data, name), { withFileTypes: true, recursive: true }).catch(() => []);
    const inner = below.find((entry) => entry.isSymbolicLink());
    if (inner) {
      throw untrusted(
        join(inner.path, inner.name),
        'is a symbolic link, through which something else would be written',
      );
    }
  }
}

const untrusted = (place: string, why: string): ToolcribError =>
  new ToolcribError(
    'REPO_UNTRUSTED',
    `${place} ${why}.`,
    'Look at it; a repository that git itself made has none such.',
  );
