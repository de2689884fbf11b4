import type { Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { ToolcribError } from '../core/errors.ts';
import { looksLikeGitFolder } from './git-folder.ts';
import { unreadable } from './opened.ts';
import { couldHoldProtected, ownReasons, protectedError, protectedReason } from './protected-paths.ts';
import { codeOf } from './real-path.ts';
import { shownPath } from './shown-path.ts';

/** A folder, or a symbolic link, that is to be moved or deleted. */
export interface Tree {
  /** The path for system calls, `Place.at`. */
  readonly at: string;
  /** Its real path, `Place.path`. */
  readonly path: string;
  /** As the caller named it. */
  readonly given: string;
}

/** How far a walk goes before it is given up: a call has 45 seconds, and has to do its work after it. */
const mostEntries = 1_000_000;
const mostMs = 15_000;

/**
 * Throws PATH_PROTECTED when moving a folder would make something in it a file that somebody runs, which it is not by
 * its names inside that folder alone: `x/tasks.json` when `x` becomes `.vscode`. What is protected by those alone
 * (`x/.envrc`) is so before and after. Nor may a symbolic link come to be where it could lead to such files, nor what is
 * toolcrib's own be moved. Throws TOO_LARGE for a folder that is too large to be looked through, and CANCELLED. Where
 * it lies and where it will lie must have been allowed already, as `openPlace` does.
 */
export async function refuseMoving(
  tree: Tree,
  { to, isLink, signal }: { to: string; isLink: boolean; signal: AbortSignal },
): Promise<void> {
  const isOwn = ownReasons();
  const check = (below: string, link: boolean) => {
    const [path, old] = [join(to, below), join(tree.path, below)];
    const before = isOwn(old) ?? protectedReason(old);
    if (before?.stays === 'in place') throw protectedError(join(tree.given, below), before.effect);
    const reason = reasonThere(path, link);
    if (!reason || (below !== '' && reasonThere(below, link))) return;
    throw protectedError(join(tree.given, below), `as ${shownPath(path)} ${reason.effect}`);
  };
  check('', isLink);
  if (!isLink) await walk(tree, check, signal);
}

const reasonThere = (path: string, isLink: boolean) =>
  protectedReason(path) ??
  (isLink && couldHoldProtected(path) ? { effect: 'it could lead to files that are run' } : undefined);

/**
 * Throws PATH_PROTECTED for a folder that holds a repository or what is toolcrib's own, and for one like `.vscode` that
 * holds what is protected there. Other protected files may go along, as node_modules is full of them. Throws TOO_LARGE and CANCELLED as above.
 */
export async function refuseDeleting(tree: Tree, { signal }: { signal: AbortSignal }): Promise<void> {
  const isOwn = ownReasons();
  const check = (below: string) => {
    const path = join(tree.path, below);
    const reason = isOwn(path) ?? protectedReason(path);
    // By the name of the folder that goes: `.vscode/tasks.json` with `.vscode`, not with what `.vscode` is in.
    const isByFolder = reason && below !== '' && !protectedReason(below);
    if (reason && (reason.stays || isByFolder))
      throw protectedError(tree.given, `${shownPath(below)} is in it, and ${reason.effect}`);
  };
  const refuseRepository = (below: string) => {
    throw protectedError(tree.given, `${shownPath(below || '.')} in it is a repository of git`);
  };
  await walk(tree, check, signal, refuseRepository);
}

/** As many folders are read at once as keep the threads that do it busy. */
const atOnce = 8;

/**
 * Looks at everything in a folder; links are told and not followed. A process that swaps folders for links meanwhile can
 * make it look elsewhere, which tells nobody anything; it could as well change them afterwards.
 */
async function walk(
  { at, given }: Tree,
  check: (below: string, isLink: boolean) => void,
  signal: AbortSignal,
  repository: (below: string) => void = () => {},
): Promise<void> {
  const until = performance.now() + mostMs;
  const folders = [''];
  let entries = 0;
  while (folders.length > 0) {
    if (signal.aborted)
      throw new ToolcribError('CANCELLED', `Stopped: ${shownPath(given)} was looked through.`);
    if (entries > mostEntries || performance.now() > until) throw tooLarge(given);
    const batch = folders.splice(-atOnce);
    const lists = await Promise.all(batch.map((below) => list(join(at, below), given)));
    for (const [index, found] of lists.entries()) {
      const below = batch[index] ?? '';
      if (looksLikeGitFolder(new Set(found.map(({ name }) => name)))) repository(below);
      entries += found.length;
      for (const entry of found) {
        const path = join(below, entry.name);
        check(path, entry.isSymbolicLink());
        if (entry.isDirectory()) folders.push(path);
      }
    }
  }
}

async function list(path: string, given: string): Promise<Dirent[]> {
  try {
    return await readdir(path, { withFileTypes: true });
  } catch (error) {
    const code = codeOf(error);
    // It was removed, or is no folder any more.
    if (code === 'ENOENT' || code === 'ENOTDIR') return [];
    throw unreadable(given, code);
  }
}

const tooLarge = (given: string): ToolcribError =>
  new ToolcribError(
    'TOO_LARGE',
    `${shownPath(given)}: holds too much to look through for files that must stay where they are.`,
    'Name the folders in it one by one.',
  );
