import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isInside } from './inside.ts';
import { unreadable } from './opened.ts';
import { couldHoldProtected, ownRealFolders, protectedError, protectedReason } from './protected-paths.ts';
import { codeOf } from './real-path.ts';
import { displayPath } from './display-path.ts';

/** A folder, or a symbolic link, that is to be moved or deleted: both ends are places that could be opened. */
export interface Tree {
  /** The path for system calls, `Place.at`. */
  readonly at: string;
  /** Its real path, `Place.path`. */
  readonly path: string;
  /** As the caller named it. */
  readonly given: string;
}

/**
 * Throws PATH_PROTECTED when moving a folder would make something in it a file that somebody runs, which it is not by
 * its names inside that folder alone: `x/tasks.json` when `x` becomes `.vscode`; or would take that from it, so that it
 * could be changed before it is moved back. What is protected by its names alone (`x/.envrc`) is so before and after.
 * Nor may a symbolic link come to be, or no longer be, where it could lead to such files, nor what is toolcrib's own be
 * moved.
 */
export async function refuseMoving(tree: Tree, { to, kind }: { to: string; kind: string }): Promise<void> {
  // A file may be at any place that could be opened.
  if (kind === 'folder' || kind === 'link') await refuseNames(tree, [tree.path, to], kind === 'link');
}

/**
 * Throws PATH_PROTECTED for a folder that a repository or toolcrib's own is in, and for one like `.vscode` that holds
 * what is protected there. Other protected files may go along, as node_modules is full of them.
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
  const look = async (below: string, isLink: boolean): Promise<void> => {
    if (below !== '' && effectOf(below, isLink)) return;
    const places = tops.map((top) => join(top, below));
    for (const place of places) {
      const effect = effectOf(place, isLink);
      if (effect) throw protectedError(join(given, below), `as ${displayPath(place)} ${effect}`);
    }
    // Nothing further down could be meant by names that begin above.
    if (isLink || !places.some(couldHoldProtected)) return;
    for (const entry of await entriesIn(join(at, below), given))
      await look(join(below, entry.name), entry.isSymbolicLink());
  };
  await look('', isLink);
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
    // A file, or removed by now.
    if (code === 'ENOENT' || code === 'ENOTDIR') return [];
    throw unreadable(given, code);
  });
