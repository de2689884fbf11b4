import {
  chmodSync,
  constants,
  copyFileSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  type Stats,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { ToolcribError } from '../../core/errors.ts';
import type { Workspace } from '../../core/tool.ts';
import { discard } from '../folders.ts';
import { lookOnceMore, removeMade, type Place } from '../paths/place.ts';
import { couldHoldProtected, protectedError, refuseProtected } from '../paths/protected-paths.ts';
import { rooted, type RootedWorkspace } from '../paths/workspace.ts';
import { temporaryName } from './entry.ts';
import { closedIn } from './listed-files.ts';
import { moveWithoutOverwriting } from './relocate.ts';
import type { AskGit, Shadow } from './shadow.ts';
import { removeEmpty } from './undo.ts';
import { unwritable } from './write-failure.ts';

/** What a path is in a tree. */
export interface Content {
  readonly kind: 'file' | 'program' | 'link';
  /** Its name in the repository. */
  readonly blob: string;
}

/** A path that two trees do not have alike. */
export interface TreeChange {
  /** Below the top, with `/` between names. */
  readonly name: string;
  readonly from: Content | undefined;
  readonly to: Content | undefined;
}

export interface BroughtBack {
  readonly done: readonly TreeChange[];
  readonly left: readonly { readonly name: string; readonly why: string }[];
}

export interface Bringing {
  readonly shadow: Shadow;
  readonly ask: AskGit;
  /** When the present began to be read: what has been touched since is not in it. */
  readonly since: number;
  readonly workspace: Workspace;
  readonly signal: AbortSignal;
}

/** Lines that git is given at a time. */
const portion = 4000;

/** What would be done, as far as names tell. */
export const couldBringBack = (changes: readonly TreeChange[], { top }: Shadow): Promise<BroughtBack> =>
  each(changes, (change) => refuseRun(join(top, change.name), change));

/** A file that somebody runs unasked does not come back unasked either, nor a link that makes others such files. */
async function refuseRun(path: string, { name, to }: Pick<TreeChange, 'name' | 'to'>): Promise<void> {
  await refuseProtected({ path }, name);
  if (to?.kind === 'link' && couldHoldProtected(path))
    throw protectedError(name, 'as a link it could lead to files that are run');
}

async function each(
  changes: readonly TreeChange[],
  act: (change: TreeChange) => Promise<void>,
): Promise<BroughtBack> {
  const done: TreeChange[] = [];
  const left: { name: string; why: string }[] = [];
  for (const change of changes) {
    try {
      await act(change);
      done.push(change);
    } catch (error) {
      left.push({ name: change.name, why: unwritable(change.name, error).message });
    }
  }
  return { done, left };
}

/** Makes files what they were, one by one, each in one step. Throws GitFailure; then nothing was changed. */
export async function bringBack(changes: readonly TreeChange[], bringing: Bringing): Promise<BroughtBack> {
  const { shadow, workspace, signal, since } = bringing;
  // What others run is left before the gate is asked; names with characters that nobody sees come back like all.
  const gate = rooted(workspace).consenting({ allows: () => true });
  const staged = join(shadow.folder, `staged.${globalThis.crypto.randomUUID()}`);
  // First what goes: a file can be in the way of a folder, and the other way round.
  const ordered = changes.toSorted((a, b) => Number(a.to !== undefined) - Number(b.to !== undefined));
  const emptied = new Set(ordered.filter(({ to }) => !to).map(({ name }) => dirname(name)));
  const closed = closedIn(shadow);
  try {
    const fileOf = await stage(ordered, staged, bringing);
    let isEmptied = false;
    const brought = await each(ordered, async (change) => {
      // What has been done can be undone; the rest is told.
      if (signal.aborted) throw left('the call was cancelled');
      if (change.to && !isEmptied) await removeEmptied(emptied, shadow, gate);
      isEmptied ||= change.to !== undefined;
      const file = { source: fileOf(change), isClosed: closed.has(change.name), since };
      await atPlace(change, shadow, gate, (place) => putBack(place, change, file));
    });
    if (!isEmptied) await removeEmptied(emptied, shadow, gate);
    return brought;
  } finally {
    rmSync(staged, { recursive: true, force: true });
    discard(`${staged}.index`);
  }
}

/** Writes what comes back into a folder of ours, under numbers: what a tree calls its files leads nowhere. */
async function stage(changes: readonly TreeChange[], folder: string, { shadow, ask }: Bringing) {
  mkdirSync(folder, { mode: 0o700 });
  const call = { workTree: folder, index: relative(shadow.folder, `${folder}.index`) };
  const lines = changes.map(({ to }, at) =>
    to ? `${to.kind === 'program' ? '100755' : '100644'} ${to.blob}\t${at}\0` : '',
  );
  for (let at = 0; at < lines.length; at += portion) {
    const input = lines.slice(at, at + portion).join('');
    if (input !== '') await ask(shadow, ['update-index', '-z', '--index-info'], { ...call, input });
  }
  if (lines.some((line) => line !== '')) await ask(shadow, ['checkout-index', '--all', '--force'], call);
  const numbers = new Map(changes.map((change, at) => [change, at]));
  return (change: TreeChange) => join(folder, String(numbers.get(change)));
}

async function atPlace(
  { name, to }: TreeChange,
  { top }: Shadow,
  gate: RootedWorkspace,
  act: (place: Place) => void,
): Promise<void> {
  const path = join(top, name);
  await refuseRun(path, { name, to });
  const opening = gate.openPlace(path, { follow: false, make: to !== undefined });
  const place = await opening.catch((error: unknown) => {
    // Gone with the folder that it was in.
    if (!to && error instanceof ToolcribError && error.code === 'PATH_NOT_FOUND') return undefined;
    throw error;
  });
  if (!place) return;
  try {
    if (place.path !== path) throw left('a link is in the place of its folder');
    lookOnceMore(place);
    act(place);
  } catch (error) {
    await removeMade(place.made);
    throw error;
  } finally {
    await place.folder.handle.close();
  }
}

interface File {
  /** Where its content lies. */
  readonly source: string;
  /** Whether it was readable to its owner alone. */
  readonly isClosed: boolean;
  readonly since: number;
}

/** Without waiting in between: so no other call of this process comes in between, and next to no other program. */
function putBack(place: Place, { from, to }: TreeChange, { source, isClosed, since }: File): void {
  const found = lstatSync(place.at, { throwIfNoEntry: false });
  if (found?.isDirectory()) throw left('a folder with other files is in its place');
  if (found && !from)
    throw left('what is there now is ignored or new, so that it could not be brought back again');
  // Not by a clock that is wrong: a file server's.
  if (found && found.ctimeMs > since && found.ctimeMs < Date.now() + 1000)
    throw left('it was changed just now');
  if (!to) return found && unlinkSync(place.at);
  const temporary = join(place.folder.stablePath, temporaryName());
  try {
    if (to.kind === 'link') symlinkSync(readFileSync(source), temporary);
    else copyLike(source, temporary, { found, isClosed, isProgram: to.kind === 'program' });
    if (found) renameSync(temporary, place.at);
    else moveWithoutOverwriting(temporary, place.at);
  } finally {
    // After a rename there is nothing left of it.
    discard(temporary);
  }
}

interface Likeness {
  readonly found: Stats | undefined;
  readonly isClosed: boolean;
  readonly isProgram: boolean;
}

/** A copy with the permissions of what it replaces, but for whether it can be run. */
function copyLike(source: string, temporary: string, { found, isClosed, isProgram }: Likeness): void {
  const plain = found?.isFile() ? found.mode & 0o666 : isClosed ? 0o600 : 0o666 & ~process.umask();
  // Whoever may read it may run it, as git does. Before it is copied: the copy is never open to more than in the end.
  const mode = isProgram ? plain | ((plain & 0o444) >> 2) : plain;
  chmodSync(source, mode | 0o400);
  copyFileSync(source, temporary, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
  chmodSync(temporary, mode);
}

async function removeEmptied(
  folders: ReadonlySet<string>,
  { top }: Shadow,
  gate: RootedWorkspace,
): Promise<void> {
  for (const folder of folders) {
    const steps = folder === '.' ? [] : folder.split('/');
    await removeEmpty(
      steps.map((_, at) => join(top, ...steps.slice(0, at + 1))),
      gate,
    );
  }
}

const left = (why: string): ToolcribError => new ToolcribError('WRITE_FAILED', why);
