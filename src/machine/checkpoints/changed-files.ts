import { accessSync, constants, lstatSync, type Stats } from 'node:fs';
import { sep } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { isInside } from '../paths/inside.ts';

/** A path below the top, as bytes: names need not be text. One character a byte ("latin1"), so that it can be a key. */
export type ByteName = string;

/** What has changed in a work tree since its index was written. */
export interface ChangedFiles {
  /** Files and links to read, with their size in bytes, and whether only their owner may read them. */
  readonly add: readonly { readonly name: ByteName; readonly size: number; readonly isClosed: boolean }[];
  /** What is no file any more, or not at this place. */
  readonly remove: readonly ByteName[];
  /** Files that this user may not read. */
  readonly unreadable: number;
}

/** Files of ours that are about to get their name, or that a kill has left (see temporaryName). */
export const temporaryPattern = /^\.toolcrib-[0-9a-f]{16}\.tmp$/;

/** Files looked at between two chances for other calls. */
const batch = 500;

/**
 * Sorts what git listed, by asking the system about each name. The system is asked without a thread in between, which
 * is ten times faster for many. `leaveOut` is a folder that is never taken: our own.
 */
export async function sortChanges(
  listed: Buffer,
  top: string,
  leaveOut: string,
  signal: AbortSignal,
): Promise<ChangedFiles> {
  const own = isInside(leaveOut, top) ? `${byteName(leaveOut.slice(top.length + 1))}/` : undefined;
  const isFolder = folderTest(top);
  const add: { name: ByteName; size: number; isClosed: boolean }[] = [];
  const remove: ByteName[] = [];
  let unreadable = 0;
  let seen = 0;
  for (const name of new Set(listed.toString('latin1').split('\0'))) {
    // With a slash at the end: a repository inside this one, whose files are its own affair.
    if (name === '' || name.endsWith('/') || (own !== undefined && name.startsWith(own))) continue;
    if (temporaryPattern.test(name.slice(name.lastIndexOf('/') + 1))) continue;
    const path = pathOf(top, name);
    // Below a link lies what is somewhere else.
    const found = isFolder(parentOf(name)) ? lookAt(path) : undefined;
    if (!found || !(found.isFile() || found.isSymbolicLink())) remove.push(name);
    else if (found.isFile() && !isReadable(path)) unreadable++;
    else add.push({ name, size: found.size, isClosed: isClosed(found) });
    if (++seen % batch === 0) {
      await setImmediate();
      signal.throwIfAborted();
    }
  }
  return { add, remove, unreadable };
}

/** The path to use in system calls. */
export const pathOf = (top: string, name: ByteName): Buffer =>
  Buffer.concat([Buffer.from(top.endsWith(sep) ? top : top + sep), Buffer.from(name, 'latin1')]);

export const byteName = (path: string): ByteName =>
  Buffer.from(sep === '/' ? path : path.replaceAll(sep, '/')).toString('latin1');

/** For people; what is no UTF-8 becomes U+FFFD. */
export const shownName = (name: ByteName): string => Buffer.from(name, 'latin1').toString();

/** The folder that a name is in; empty for the top. */
export const parentOf = (name: ByteName): ByteName => name.slice(0, Math.max(0, name.lastIndexOf('/')));

/** Whether a folder, and each one above it, is a real one. */
function folderTest(top: string): (name: ByteName) => boolean {
  const known = new Map<ByteName, boolean>([['', true]]);
  return function isFolder(name): boolean {
    const before = known.get(name);
    if (before !== undefined) return before;
    const is = isFolder(parentOf(name)) && (lookAt(pathOf(top, name))?.isDirectory() ?? false);
    known.set(name, is);
    return is;
  };
}

function lookAt(path: Buffer): Stats | undefined {
  try {
    return lstatSync(path);
  } catch {
    // Not there, or in a folder that this user may not enter: nothing that could be read.
    return undefined;
  }
}

/** Windows says this in other ways, which files there take from their folder. */
const isClosed = (found: Stats): boolean =>
  process.platform !== 'win32' && found.isFile() && (found.mode & 0o077) === 0;

function isReadable(path: Buffer): boolean {
  try {
    accessSync(path, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}
