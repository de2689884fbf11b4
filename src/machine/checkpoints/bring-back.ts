import { constants, lstatSync, renameSync, unlinkSync, type BigIntStats } from 'node:fs';
import { chmod, copyFile, link, lstat, readFile, rename, rm, rmdir, symlink } from 'node:fs/promises';
import { ToolcribError } from '../../core/errors.ts';
import { parentOf, type ByteName } from './changed-files.ts';
import type { OpenScopes } from './open-scopes.ts';
import { below, inParent, Left, type Path } from './parent-folder.ts';
import { codeOf } from '../paths/real-path.ts';
import type { Staged, TreeChange } from './tree-changes.ts';

export interface Plan {
  readonly changes: readonly TreeChange[];
  readonly staged: Staged;
  /** Throws ToolcribError for a path that is never changed. */
  refuse(change: TreeChange): Promise<void>;
  /** Whether a file that is not there was readable to its owner alone. */
  isClosed(name: ByteName): boolean;
  /** What a file is called until it has its name. */
  readonly temporary: string;
  /** The open folder of the scope a name lies in, and the rest of the name. */
  scopeOf: OpenScopes['scopeOf'];
  /** When the state that `from` describes began to be read: what has been touched since is not in it. */
  readonly since: number;
  readonly signal: AbortSignal;
}

export interface BroughtBack {
  readonly done: readonly TreeChange[];
  readonly left: readonly { readonly name: ByteName; readonly why: string }[];
}

/**
 * Makes files what they are to be, one by one: each is replaced in one step. No link is followed on the way, and nothing
 * is touched that the undoing checkpoint does not hold. Never throws for a single path.
 */
export async function bringBack(plan: Plan): Promise<BroughtBack> {
  const done: TreeChange[] = [];
  const left: { name: ByteName; why: string }[] = [];
  const attempt = async (change: TreeChange, act: () => Promise<void>) => {
    // What has been done can be undone; the rest is told.
    if (plan.signal.aborted) return void left.push({ name: change.name, why: 'the call was cancelled' });
    try {
      await plan.refuse(change);
      await act();
      done.push(change);
    } catch (error) {
      const said = error instanceof Left || error instanceof ToolcribError;
      left.push({ name: change.name, why: said ? error.message : reasonOf(codeOf(error)) });
    }
  };
  const gone = plan.changes.filter(({ to }) => !to);
  // First what goes: a file can be in the way of a folder, and the other way round.
  for (const change of gone) await attempt(change, () => remove(change, plan));
  await removeEmptied(new Set(gone.map(({ name }) => parentOf(name))), plan);
  for (const change of plan.changes.filter(({ to }) => to)) await attempt(change, () => write(change, plan));
  return { done, left };
}

const reasons: Readonly<Record<string, string>> = {
  EACCES: 'the system does not let this user write there',
  EPERM: 'the system does not let this user write there',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EROFS: 'the file system is read-only',
  EISDIR: 'a folder with other files is in its place',
  ENOTEMPTY: 'a folder with other files is in its place',
};
const reasonOf = (code: string): string => reasons[code] ?? `the system said ${code}`;

async function remove(change: TreeChange, plan: Plan): Promise<void> {
  await inParent(change.name, { ...plan, makeMissing: false }, async (parent, name) => {
    const path = below(parent, name);
    const found = lookAt(path);
    if (!found) return;
    refuseChanged(found, plan);
    unlinkSync(path);
  });
}

async function write(change: TreeChange, plan: Plan): Promise<void> {
  await inParent(change.name, { ...plan, makeMissing: true }, async (parent, name) => {
    const path = below(parent, name);
    const found = lookAt(path);
    if (found?.isDirectory()) throw new Left('a folder with other files is in its place');
    if (found && !change.from) throw notKept();
    if (found) refuseChanged(found, plan);
    const temporary = below(parent, Buffer.from(plan.temporary));
    try {
      await make(change, plan, temporary, found);
      if (found) replace(path, found, temporary);
      else await putNew(temporary, path);
    } finally {
      // After a rename there is nothing left of it.
      await rm(temporary, { force: true });
    }
  });
}

/**
 * Undefined where nothing is. Without another thread: what follows at once has no other call of this process in between,
 * and next to no time for another process.
 */
const lookAt = (path: Path): BigIntStats | undefined =>
  lstatSync(path, { bigint: true, throwIfNoEntry: false });

/** In one step; not what has been written while the copy was made. */
function replace(path: Path, found: BigIntStats, temporary: Path): void {
  const now = lookAt(path);
  const facts = ['dev', 'ino', 'size', 'mtimeNs', 'ctimeNs'] as const;
  if (!now || facts.some((fact) => now[fact] !== found[fact])) throw changedJustNow();
  renameSync(temporary, path);
}

/** A link or a copy, with the permissions of what it replaces but for whether it can be run. */
async function make(
  change: TreeChange,
  { staged, isClosed }: Plan,
  temporary: Path,
  found: BigIntStats | undefined,
): Promise<void> {
  const source = staged.fileOf(change);
  if (change.to?.kind === 'link') return symlink(await readFile(source), temporary);
  const plain = found?.isFile() ? Number(found.mode) & 0o666 : isClosed(change.name) ? 0o600 : undefined;
  // Whoever may read it may run it, as git does.
  const mode = plain && change.to?.kind === 'program' ? plain | ((plain & 0o444) >> 2) : plain;
  // Before it is copied: the copy is never open to more than it is to be in the end.
  if (mode !== undefined) await chmod(source, mode | 0o600);
  await copyFile(source, temporary, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
  if (mode !== undefined && (mode & 0o600) !== 0o600) await chmod(temporary, mode);
}

/** Does not replace what has come there since it was looked at. */
async function putNew(temporary: Path, path: Path): Promise<void> {
  try {
    await link(temporary, path);
  } catch (error) {
    const code = codeOf(error);
    if (code === 'EEXIST') throw notKept();
    // A file system without hard links, and on macOS a symbolic link.
    if (await lstat(path).catch(() => undefined)) throw notKept();
    await rename(temporary, path);
  }
}

const notKept = (): Left =>
  new Left('what is there now is ignored or new, so that it could not be brought back again');

const changedJustNow = (): Left => new Left('it was changed just now');

/** A file that was touched after the present state began to be read may be in it or not. */
function refuseChanged(found: BigIntStats, { since }: Plan): void {
  if (found.isDirectory()) throw new Left('it has become a folder just now');
  const changedAt = Number(found.ctimeNs) / 1e6;
  // Not from a clock that is wrong: a file server's.
  if (changedAt > since && changedAt < Date.now() + 1000) throw changedJustNow();
}

/** Folders that hold nothing any more, from the inside; a scope itself stays. */
async function removeEmptied(folders: ReadonlySet<ByteName>, plan: Plan): Promise<void> {
  const all = new Set<ByteName>();
  for (const folder of folders) for (let here = folder; here !== ''; here = parentOf(here)) all.add(here);
  const inner = [...all].filter((name) => plan.scopeOf(name)?.rest);
  for (const name of inner.toSorted((a, b) => b.split('/').length - a.split('/').length)) {
    // Not empty, not there, not allowed: then it stays.
    await inParent(name, { ...plan, makeMissing: false }, (parent, last) => rmdir(below(parent, last))).catch(
      () => {},
    );
  }
}
