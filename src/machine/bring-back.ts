import { constants, type Stats } from 'node:fs';
import {
  chmod,
  copyFile,
  link,
  lstat,
  mkdir,
  open,
  readFile,
  rename,
  rm,
  rmdir,
  symlink,
  unlink,
  type FileHandle,
} from 'node:fs/promises';
import { ToolcribError } from '../core/errors.ts';
import { temporaryName } from './change-kit.ts';
import { parentOf, type ByteName } from './changed-files.ts';
import type { OpenScopes } from './open-scopes.ts';
import { codeOf } from './real-path.ts';
import type { Staged, TreeChange } from './tree-changes.ts';

/** A folder as it is used in system calls. */
type Path = Buffer;

export interface Plan {
  readonly changes: readonly TreeChange[];
  readonly staged: Staged;
  /** Throws ToolcribError for a path that is never changed. */
  refuse(name: ByteName): Promise<void>;
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

/** Why a path was left as it is. */
class Left extends Error {}

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
      await plan.refuse(change.name);
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
  await inParent(change.name, false, plan, async (parent, name) => {
    const path = below(parent, name);
    const found = await lstat(path).catch(() => undefined);
    if (!found) return;
    refuseChanged(found, plan);
    await unlink(path);
  });
}

async function write(change: TreeChange, plan: Plan): Promise<void> {
  await inParent(change.name, true, plan, async (parent, name) => {
    const path = below(parent, name);
    const found = await lstat(path).catch(() => undefined);
    if (found?.isDirectory()) throw new Left('a folder with other files is in its place');
    if (found && !change.from) throw notKept();
    if (found) refuseChanged(found, plan);
    const temporary = below(parent, Buffer.from(temporaryName()));
    try {
      await make(change, plan.staged.fileOf(change), temporary, found);
      if (found) await rename(temporary, path);
      else await putNew(temporary, path);
    } finally {
      // After a rename there is nothing left of it.
      await rm(temporary, { force: true });
    }
  });
}

/** A link or a copy, with the permissions of what it replaces but for whether it can be run. */
async function make(
  change: TreeChange,
  staged: string,
  temporary: Path,
  found: Stats | undefined,
): Promise<void> {
  if (change.to?.kind === 'link') return symlink(await readFile(staged), temporary);
  await copyFile(staged, temporary, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
  if (!found?.isFile()) return undefined;
  const plain = found.mode & 0o666;
  // Whoever may read it may run it, as git does.
  return chmod(temporary, change.to?.kind === 'program' ? plain | ((plain & 0o444) >> 2) : plain);
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

/** A file that was touched after the present state began to be read may be in it or not. */
function refuseChanged(found: Stats, { since }: Plan): void {
  if (found.isDirectory()) throw new Left('it has become a folder just now');
  // Not from a clock that is wrong: a file server's.
  if (found.ctimeMs > since && found.ctimeMs < Date.now() + 1000) throw new Left('it was changed just now');
}

/** Calls with the open folder that a name is in; every step on the way must be a real folder. */
async function inParent(
  name: ByteName,
  makeMissing: boolean,
  plan: Plan,
  act: (parent: Path, name: Buffer) => Promise<void>,
): Promise<void> {
  const scope = plan.scopeOf(name);
  if (!scope) throw new Left('it lies outside the folders that are open');
  const steps = scope.rest.split('/').map((step) => Buffer.from(step, 'latin1'));
  const last = steps.pop() ?? Buffer.alloc(0);
  let here: { path: Path; handle?: FileHandle } = { path: Buffer.from(scope.path) };
  try {
    for (const step of steps) {
      const next = await enter(here.path, step, makeMissing);
      await here.handle?.close();
      // Gone with all that was in it.
      if (!next) return;
      here = next;
    }
    await act(here.path, last);
  } finally {
    await here.handle?.close();
  }
}

async function enter(
  folder: Path,
  step: Buffer,
  makeMissing: boolean,
): Promise<{ path: Path; handle?: FileHandle } | undefined> {
  const path = below(folder, step);
  if (makeMissing) {
    await mkdir(path).catch((error: unknown) => {
      if (codeOf(error) !== 'EEXIST') throw error;
    });
  }
  try {
    if (process.platform === 'linux') {
      // Held open, it stays the same folder whatever is put in its place.
      const handle = await open(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
      return { path: Buffer.from(`/proc/self/fd/${handle.fd}`), handle };
    }
    if (!(await lstat(path)).isDirectory()) throw new Left('a link or a file is in the place of its folder');
    return { path };
  } catch (error) {
    if (error instanceof Left) throw error;
    const code = codeOf(error);
    if (code === 'ENOENT' && !makeMissing) return undefined;
    if (code === 'ENOTDIR' || code === 'ELOOP')
      throw new Left('a link or a file is in the place of its folder');
    throw error;
  }
}

/** Folders that hold nothing any more, from the inside; a scope itself stays. */
async function removeEmptied(folders: ReadonlySet<ByteName>, plan: Plan): Promise<void> {
  const all = new Set<ByteName>();
  for (const folder of folders) for (let here = folder; here !== ''; here = parentOf(here)) all.add(here);
  const inner = [...all].filter((name) => plan.scopeOf(name)?.rest);
  for (const name of inner.toSorted((a, b) => b.split('/').length - a.split('/').length)) {
    // Not empty, not there, not allowed: then it stays.
    await inParent(name, false, plan, (parent, last) => rmdir(below(parent, last))).catch(() => {});
  }
}

const below = (folder: Path, name: Buffer): Path => Buffer.concat([folder, Buffer.from('/'), name]);
