import { lstat, readdir, readFile, realpath } from 'node:fs/promises';
import { delimiter, dirname, join, resolve } from 'node:path';
import type { Effect, Repository } from '../../core/discoverer.ts';
import { ToolcribError } from '../../core/errors.ts';
import type { Workspace } from '../../core/tool.ts';
import { isInside } from '../paths/inside.ts';
import { upwards } from '../upwards.ts';

/** The repository that a program will use, if it looks no further up than `top`. */
export interface FoundRepository {
  /** The folder that has it. */
  readonly top: string;
  /** Where its data lies, or what it shares with its other work trees. */
  readonly data: string;
  /** Where its data lies, when nothing about that is out of the ordinary: one plain folder inside `top`. */
  readonly plainData?: string;
}

/**
 * Finds the repository that a folder belongs to, and makes sure that all of it lies inside the roots and, before an
 * action that changes it, that no symbolic link leads what is written there elsewhere. Throws PATH_NOT_FOUND,
 * PATH_OUTSIDE_ROOTS and REPO_UNTRUSTED.
 */
export async function checkRepository(
  repository: Repository,
  folder: string,
  effects: readonly Effect[],
  workspace: Workspace,
): Promise<FoundRepository> {
  const { folder: name } = repository;
  const folders = upwards(folder, workspace.roots);
  const place = await firstThatExists(folders.map((here) => join(here, name)));
  if (place === undefined) {
    throw new ToolcribError(
      'PATH_NOT_FOUND',
      `${folder}: there is no repository (${name}) here or above, up to the root.`,
      'Give a folder inside one as cwd. If it begins above the root, the server has to be started with --root at its top.',
    );
  }
  const top = dirname(place);
  if (dirname(top).includes(delimiter)) {
    throw untrusted(
      dirname(top),
      `has a "${delimiter}" in its path, so that the search for repositories cannot be ended there`,
    );
  }
  const data = await dataFolder(place, workspace);
  const shared = await sharedFolder(data, place, workspace);
  const changes = effects.some((effect) => effect === 'write' || effect === 'destroy');
  const all = [...new Set([data, shared])];
  const [another] = await Promise.all([
    mayBeAnother(folders, top, repository),
    ...folders.slice(0, folders.indexOf(top)).map(refuseBare),
    ...all.map((here) => checkLinks(here, changes, repository.written, [...workspace.roots, shared])),
    ...all.map((here) => checkObjects(join(here, 'objects'), workspace)),
  ]);
  const plain = data === place && shared === place && !another;
  return { top, data: shared, ...(plain ? { plainData: data } : {}) };
}

async function firstThatExists(paths: readonly string[]): Promise<string | undefined> {
  const there = await Promise.all(paths.map(exists));
  return paths.find((_, index) => there[index]);
}

const exists = async (path: string): Promise<boolean> =>
  (await lstat(path).catch(() => undefined)) !== undefined;

/** Where a repository keeps its data: the folder itself, or what a file in its place points to. */
async function dataFolder(place: string, workspace: Workspace): Promise<string> {
  const facts = await lstat(place);
  if (facts.isDirectory()) return place;
  const target = /^gitdir: (.+)$/.exec(await exactLine(place))?.[1];
  if (target === undefined) throw untrusted(place, 'does not say where the repository is');
  const data = await realpath(resolve(dirname(place), target)).catch(() => undefined);
  if (data === undefined) throw untrusted(place, 'points to nothing');
  if (!(await isOwnWorktree(data, place))) await workspace.resolve(data, { kind: 'folder', mustExist: true });
  return data;
}

/** What several worktrees share: the data itself, unless it says otherwise. */
async function sharedFolder(data: string, place: string, workspace: Workspace): Promise<string> {
  const file = join(data, 'commondir');
  if (!(await exists(file))) return data;
  const shared = await realpath(resolve(data, await exactLine(file))).catch(() => undefined);
  if (shared === undefined) throw untrusted(file, 'points to nothing');
  if (!(await isOwnWorktree(data, place)))
    await workspace.resolve(shared, { kind: 'folder', mustExist: true });
  return shared;
}

/** The main repository of a linked worktree knows it, and nothing in the worktree can make it say so. */
async function isOwnWorktree(data: string, place: string): Promise<boolean> {
  if (!/[\\/]worktrees[\\/][^\\/]+$/.test(data) || !(await exists(join(data, 'gitdir')))) return false;
  const known = await realpath(resolve(data, await exactLine(join(data, 'gitdir')))).catch(() => undefined);
  return known !== undefined && known === (await realpath(place).catch(() => undefined));
}

/** The one line of a small file, as git reads it. Anything that could be read in two ways is refused. */
async function exactLine(file: string): Promise<string> {
  const facts = await lstat(file);
  if (!facts.isFile() || facts.size > 16_384) throw untrusted(file, 'is no small plain file');
  const line = (await readFile(file, 'utf8')).replace(/[\r\n]+$/, '');
  // oxlint-disable-next-line no-control-regex
  if (/[\u0000-\u001f\ufffd]|\s$/.test(line)) throw untrusted(file, 'has more than a path in it');
  return line;
}

/** Links lead to no file that is written, and to none outside what is open that would be read, and quoted. */
async function checkLinks(
  data: string,
  changes: boolean,
  { deep, leave, bulk }: Repository['written'],
  allowed: readonly string[],
): Promise<void> {
  const below = deep.map((name) => linksBelow(join(data, name), [...leave, ...bulk]));
  const links = [...(await linksIn(data, leave)), ...(await Promise.all(below)).flat()];
  for (const path of links) {
    if (changes) throw untrusted(path, 'is a symbolic link, through which something else would be written');
    const real = await realpath(path).catch(() => undefined);
    if (real === undefined || !allowed.some((folder) => isInside(real, folder))) {
      throw untrusted(path, 'is a symbolic link that leads out of the folders that are open');
    }
  }
}

const linksIn = async (folder: string, leave: readonly string[]): Promise<string[]> =>
  (await readdir(folder, { withFileTypes: true }))
    .filter((entry) => entry.isSymbolicLink() && !leave.includes(entry.name))
    .map(({ name }) => join(folder, name));

/** All links below a folder that may not be there, but in folders of the given names. */
async function linksBelow(folder: string, leave: readonly string[]): Promise<string[]> {
  const facts = await lstat(folder).catch(() => undefined);
  if (!facts?.isDirectory()) return [];
  const entries = await readdir(folder, { withFileTypes: true });
  const here = entries.filter(({ name }) => !leave.includes(name));
  const below = here
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => linksBelow(join(folder, name), leave));
  const links = here.filter((entry) => entry.isSymbolicLink()).map(({ name }) => join(folder, name));
  return [...links, ...(await Promise.all(below)).flat()];
}

/**
 * Objects borrowed from another repository can be shown like its own, and those that it has borrowed in turn. `seen`
 * are the folders that were looked at.
 */
async function checkObjects(objects: string, workspace: Workspace, seen = new Set<string>()): Promise<void> {
  if (seen.has(objects)) return;
  seen.add(objects);
  for (const place of [objects, join(objects, 'pack'), join(objects, 'info')]) {
    const entries = await readdir(place, { withFileTypes: true }).catch(() => []);
    for (const link of entries.filter((entry) => entry.isSymbolicLink())) {
      await workspace.resolve(join(place, link.name));
    }
  }
  const file = join(objects, 'info', 'alternates');
  const facts = await lstat(file).catch(() => undefined);
  if (!facts) return;
  if (!facts.isFile() || facts.size > 16_384) throw untrusted(file, 'is no small plain file');
  for (const line of (await readFile(file, 'utf8')).split('\n')) {
    if (line === '' || line.startsWith('#')) continue;
    if (line.startsWith('"')) throw untrusted(file, 'names a folder in quotes, which can hide what it is');
    await checkObjects(await workspace.resolve(resolve(objects, line)), workspace, seen);
  }
}

/** Whether one of the folders on the way could be taken for a repository without a work tree. */
async function mayBeAnother(
  folders: readonly string[],
  top: string,
  { folder }: Repository,
): Promise<boolean> {
  const onTheWay = folders.slice(0, folders.indexOf(top) + 1);
  if (onTheWay.some((here) => here.split(/[\\/]/).includes(folder))) return true;
  return (await firstThatExists(onTheWay.map((here) => join(here, 'HEAD')))) !== undefined;
}

/**
 * A folder of the work tree that is laid out like a repository would be taken for one, with a configuration that came
 * with the files. git has safe.bareRepository against it since 2.38.
 */
async function refuseBare(folder: string): Promise<void> {
  const [head, common, objects, refs] = await Promise.all(
    ['HEAD', 'commondir', 'objects', 'refs'].map((name) => exists(join(folder, name))),
  );
  if (head && (common || (objects && refs)))
    throw untrusted(folder, 'is an embedded bare repository, whose configuration came with the files');
}

const untrusted = (place: string, why: string): ToolcribError =>
  new ToolcribError(
    'REPO_UNTRUSTED',
    `${place} ${why}.`,
    'Look at it; a repository that git itself made has none such.',
  );
