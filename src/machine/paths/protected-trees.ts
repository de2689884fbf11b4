import type { Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { ToolcribError } from '../../core/errors.ts';
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
 * its names inside that folder alone: `x/tasks.json` when `x` becomes `.vscode`; or would take that from it, so that it
 * could be changed before it is moved back. What is protected by its names alone (`x/.envrc`) is so before and after. Nor
 * may a symbolic link come to be, or no longer be, where it could lead to such files, nor what is toolcrib's own be moved. Throws TOO_LARGE for a folder that is too large to be looked through, and CANCELLED. Where
 * it lies and where it will lie must have been allowed already, as `openPlace` does.
 */
export async function refuseMoving(
  tree: Tree,
  { to, isLink, signal }: { to: string; isLink: boolean; signal?: AbortSignal | undefined },
): Promise<void> {
  const isOwn = ownReasons();
  const check = (below: string, link: boolean) => {
    const [path, old] = [join(to, below), join(tree.path, below)];
    const before = isOwn(old) ?? protectedReason(old);
    if (before?.stays === 'in place') throw protectedError(join(tree.given, below), before.effect);
    if (below !== '' && reasonThere(below, link)) return;
    const away = reasonThere(old, link);
    if (away) throw protectedError(join(tree.given, below), away.effect);
    const reason = reasonThere(path, link);
    if (!reason) return;
    throw protectedError(join(tree.given, below), `as ${shownPath(path)} ${reason.effect}`);
  };
  check('', isLink);
  if (!isLink) await walk(tree, check, signal ?? new AbortController().signal);
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
  const folders: Folder[] = [{ below: '', path: at }];
  let entries = 0;
  while (folders.length > 0) {
    if (signal.aborted)
      throw new ToolcribError('CANCELLED', `Stopped: ${shownPath(given)} was looked through.`);
    if (entries > mostEntries || performance.now() > until) throw tooLarge(given);
    const batch = folders.splice(-atOnce);
    const lists = await Promise.all(batch.map(({ path }) => list(path, given)));
    for (const [index, found] of lists.entries()) {
      const { below = '', path = at } = batch[index] ?? {};
      const names = found.map(({ name }) => String(name));
      if (looksLikeGitFolder(new Set(names))) repository(below);
      entries += found.length;
      for (const [position, entry] of found.entries()) {
        const inside = join(below, names[position] ?? '');
        check(inside, entry.isSymbolicLink());
        if (entry.isDirectory()) folders.push({ below: inside, path: stepInto(path, entry.name) });
      }
    }
  }
}

/** A folder in the tree: by its names as text, which tells what it is, and as system calls find it. */
interface Folder {
  readonly below: string;
  /** Bytes where a name is no text: as text it would name something else, or nothing, and pass for empty. */
  readonly path: string | Buffer;
}

const stepInto = (folder: string | Buffer, name: string | Buffer): string | Buffer =>
  typeof folder === 'string' && typeof name === 'string'
    ? join(folder, name)
    : Buffer.concat([Buffer.from(folder), Buffer.from('/'), Buffer.from(name)]);

/** What stands in a name for bytes that are no UTF-8. */
const replaced = '\ufffd';

async function list(
  path: string | Buffer,
  given: string,
): Promise<readonly (Dirent<string> | Dirent<Buffer>)[]> {
  try {
    if (typeof path === 'string') {
      const found = await readdir(path, { withFileTypes: true });
      if (!found.some(({ name }) => name.includes(replaced))) return found;
    }
    return await readdir(path, { withFileTypes: true, encoding: 'buffer' });
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
