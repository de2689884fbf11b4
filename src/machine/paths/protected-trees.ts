import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isInside } from './inside.ts';
import { unreadable } from './opened.ts';
import { couldHoldProtected, ownRealFolders, protectedError, protectedReason } from './protected-paths.ts';
import { codeOf } from './real-path.ts';
import { displayPath } from './display-path.ts';

/** A folder or a symbolic link that is to be moved or deleted, between places that could be opened. */
export interface Tree {
  /** The path for system calls; see `PathTarget.at`. */
  readonly at: string;
  /** The real path; see `PathTarget.path`. */
  readonly path: string;
  /** The path as the caller named it. */
  readonly given: string;
}

/**
 * Throws PATH_PROTECTED when moving a folder would make something in it a file that others run, which its
 * names inside the folder alone do not: `x/tasks.json` when `x` becomes `.vscode`. The reverse is refused as
 * well, because the file could be changed before it is moved back. What is protected by its names alone
 * (`x/.envrc`) is so before and after. A symbolic link must neither appear nor disappear where it could lead
 * to such files, and what is toolcrib's own is not moved.
 */
export async function refuseMoving(tree: Tree, { to, kind }: { to: string; kind: string }): Promise<void> {
  // A single file may be at any place that could be opened.
  if (kind === 'folder' || kind === 'link') await refuseNames(tree, [tree.path, to], kind === 'link');
}

/**
 * Throws PATH_PROTECTED for a folder that holds a repository or toolcrib's own files, and for one like
 * `.vscode` that holds protected files. Other protected files may be deleted with it, as node_modules is full
 * of them.
 */
export async function refuseDeleting(tree: Tree): Promise<void> {
  await refuseNames(tree, [tree.path], false);
  await refuseRepositories(tree, '');
}

async function refuseNames(
  { at, path, given }: Tree,
  ends: readonly string[],
  isLink: boolean,
): Promise<void> {
  if (ownRealFolders().some((own) => isInside(own, path)))
    throw protectedError(given, 'what toolcrib itself remembers is in it');
  // Where the folder itself is protected, a person was asked about all that is in it.
  const tops = ends.filter((end) => !protectedReason(end));
  const inspect = async (below: string, isLink: boolean): Promise<void> => {
    if (below !== '' && effectOf(below, isLink)) return;
    const places = tops.map((top) => join(top, below));
    for (const place of places) {
      const effect = effectOf(place, isLink);
      if (effect) throw protectedError(join(given, below), `as ${displayPath(place)} ${effect}`);
    }
    // No pattern that begins above could match further down.
    if (isLink || !places.some(couldHoldProtected)) return;
    for (const entry of await entriesIn(join(at, below), given))
      await inspect(join(below, entry.name), entry.isSymbolicLink());
  };
  await inspect('', isLink);
}

const effectOf = (path: string, isLink: boolean): string | undefined =>
  protectedReason(path)?.effect ??
  (isLink && couldHoldProtected(path) ? 'it could lead to files that are run' : undefined);

async function refuseRepositories(tree: Tree, below: string): Promise<void> {
  const entries = await entriesIn(join(tree.at, below), tree.given);
  const names = new Set(entries.map(({ name }) => name));
  const has = (...all: readonly string[]) => all.every((name) => names.has(name));
  if (has('.git') || has('.hg') || has('.jj') || has('.svn') || has('HEAD', 'objects', 'refs'))
    throw protectedError(tree.given, `${displayPath(below || '.')} in it is a repository`);
  for (const entry of entries)
    if (entry.isDirectory()) await refuseRepositories(tree, join(below, entry.name));
}

const entriesIn = (folder: string, given: string) =>
  readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
    const code = codeOf(error);
    // It is a file, or was removed meanwhile.
    if (code === 'ENOENT' || code === 'ENOTDIR') return [];
    throw unreadable(given, code);
  });
