import {
  linkSync,
  lstatSync,
  mkdirSync,
  readlinkSync,
  renameSync,
  rmdirSync,
  symlinkSync,
  unlinkSync,
  type Stats,
} from 'node:fs';
import { copyTree } from './copy-tree.ts';
import { codeOf } from '../paths/real-path.ts';
import { removeTree } from './remove-tree.ts';

/** Something that moves, and the names it needs on the way. All are paths for system calls. */
export interface Relocation {
  readonly from: string;
  readonly to: string;
  /** Beside `to`: the copy, until it is whole. Only used between file systems. */
  readonly temporary: string;
  /** Beside `from`: the original, out of everybody's way while it is copied. Only used between file systems. */
  readonly aside: string;
  /** For people. */
  readonly shown: string;
  /** Called with the inode of the whole copy, before it is put in its place. */
  copied(ino: number): void;
}

/**
 * Moves a file, link or folder, and never onto something: throws EEXIST, and what else the system says; then everything
 * is as it was. On one file system this is one step whatever the size.
 */
export async function relocate(relocation: Relocation): Promise<void> {
  const { from, to } = relocation;
  try {
    moveWithoutOverwriting(from, to);
  } catch (error) {
    if (codeOf(error) !== 'EXDEV') throw error;
    await relocateByCopy(relocation);
  }
}

async function relocateByCopy({ from, to, temporary, aside, shown, copied }: Relocation): Promise<void> {
  renameSync(from, aside);
  try {
    await copyTree(aside, temporary, shown);
    copied(lstatSync(temporary).ino);
    moveWithoutOverwriting(temporary, to);
  } catch (error) {
    // What has been swapped meanwhile may refuse to go; the original comes back all the same.
    await removeTree(temporary).catch(() => {});
    moveWithoutOverwriting(aside, from);
    throw error;
  }
  // It has been moved: what cannot be removed of the original stays, hidden, and is no failure of that.
  await removeTree(aside).catch(() => {});
}

/**
 * rename(2) replaces what is at its target, and Node has no renameat2(2). So a file gets its new name by link(2), which
 * does not, before it loses the old one; a folder replaces an empty one that was made for it. Throws EEXIST.
 */
export function moveWithoutOverwriting(from: string, to: string): void {
  const found = lstatSync(from);
  if (isOtherCase(from, to, found)) renameSync(from, to);
  else if (found.isDirectory()) moveFolder(from, to);
  else if (isNamed(from, to, found.isSymbolicLink())) removeOldName(from, to);
  else renameSync(from, to);
}

/** Whether both name the same thing, which a volume lets be spelt in several ways. */
function isOtherCase(from: string, to: string, { ino, dev, nlink }: Stats): boolean {
  if (from === to || from.toLowerCase() !== to.toLowerCase()) return false;
  const other = lstatSync(to, { throwIfNoEntry: false });
  return other?.ino === ino && other.dev === dev && (nlink === 1 || other.isDirectory());
}

function moveFolder(from: string, to: string): void {
  // Windows never replaces a folder by another.
  if (process.platform === 'win32') {
    refuseExisting(to);
    return renameSync(from, to);
  }
  mkdirSync(to, { mode: 0o700 });
  try {
    renameSync(from, to);
  } catch (error) {
    rmdirSync(to);
    throw error;
  }
}

/** Whether it now has the new name as well. Throws EEXIST. */
function isNamed(from: string, to: string, isLink: boolean): boolean {
  try {
    // link(2) of macOS follows links.
    if (isLink && process.platform !== 'linux') symlinkSync(readlinkSync(from), to);
    else linkSync(from, to);
    return true;
  } catch (error) {
    const code = codeOf(error);
    if (code === 'EEXIST' || code === 'EXDEV') throw error;
    // A file system without hard links, or somebody else's file: then a moment is left between the look and the move.
    refuseExisting(to);
    return false;
  }
}

function removeOldName(from: string, to: string): void {
  try {
    unlinkSync(from);
  } catch (error) {
    unlinkSync(to);
    throw error;
  }
}

function refuseExisting(to: string): void {
  if (lstatSync(to, { throwIfNoEntry: false })) throw Object.assign(new Error('exists'), { code: 'EEXIST' });
}
