import {
  chmodSync,
  constants,
  copyFileSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { symlinkSync, unlinkSync, type Stats } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { ToolcribError } from '../../core/errors.ts';
import type { Workspace } from '../../core/tool.ts';
import { decode } from '../decode.ts';
import { discard } from '../folders.ts';
import { isInside } from '../paths/inside.ts';
import { lookOnceMore } from '../paths/last-look.ts';
import { removeMade, type Place } from '../paths/place.ts';
import { couldHoldProtected, protectedError, refuseProtected } from '../paths/protected-paths.ts';
import { rooted, type RootedWorkspace } from '../paths/workspace.ts';
import { temporaryName } from './entry.ts';
import { moveWithoutOverwriting } from './relocate.ts';
import { GitFailure, type AskGit, type Shadow } from './shadow.ts';
import { closedIn, type Checkpoint } from './snapshot.ts';
import { removeEmpty } from './undo.ts';
import { unwritable } from './write-failure.ts';

export interface RestoreOptions {
  /** Only these, or what is below them; all when empty. */
  readonly paths: readonly string[];
  readonly dryRun: boolean;
}

/** What a path is in a tree. */
interface Content {
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

export interface Restored {
  readonly top: string;
  /** The checkpoint of what was there before. */
  readonly undo: string;
  readonly done: readonly TreeChange[];
  readonly left: readonly { readonly name: string; readonly why: string }[];
  /** What was done, or would be, as a unified difference; of many files, only of the first. */
  readonly diff: string;
}

interface Restoration {
  readonly shadow: Shadow;
  readonly ask: AskGit;
  readonly present: Checkpoint;
  readonly wanted: Checkpoint;
  readonly how: RestoreOptions;
  /** When the present began to be read: what has been touched since is not in it. */
  readonly since: number;
  readonly workspace: Workspace;
  readonly signal: AbortSignal;
}

/** Files beyond these are not shown in a difference. */
const mostCompared = 50;
/** Lines that git is given at a time. */
const portion = 4000;

/** Makes files what they were, one by one, each in one step, or tells which with `dryRun`. Throws NOT_FOUND. */
export async function restoreTree(restoration: Restoration): Promise<Restored> {
  const { shadow, ask, present, wanted, how, workspace } = restoration;
  const only = await Promise.all(how.paths.map((path) => workspace.resolve(path)));
  try {
    const all = await changesBetween(restoration);
    const isWanted = ({ name }: TreeChange) => only.some((path) => isInside(join(shadow.top, name), path));
    const changes = only.length === 0 ? all : all.filter(isWanted);
    const brought = how.dryRun ? await allowed(changes, shadow) : await apply(changes, restoration);
    const names = brought.done.map(({ name }) => name).slice(0, mostCompared);
    // As text, since the repository's attributes keep git from looking into any file.
    const options = ['-r', '-p', '--text', '--no-renames', '--no-ext-diff', '--no-textconv', '--no-color'];
    const args = ['--literal-pathspecs', 'diff-tree', ...options, present.tree, wanted.tree, '--', ...names];
    // What was done is done, also when it cannot be shown.
    const diff = names.length === 0 ? '' : await ask(shadow, args).then(decode, () => '');
    return { top: shadow.top, undo: present.id, ...brought, diff };
  } catch (error) {
    if (!(error instanceof GitFailure)) throw error;
    throw new ToolcribError(
      'NOT_FOUND',
      `The checkpoint cannot be read any more; nothing was changed. git said: ${error.message}`,
      'list_checkpoints has others.',
    );
  }
}

async function changesBetween({ shadow, ask, present, wanted }: Restoration): Promise<TreeChange[]> {
  const args = ['diff-tree', '-r', '-z', '--raw', '--no-renames', '--no-abbrev', present.tree, wanted.tree];
  const fields = (await ask(shadow, args)).toString().split('\0');
  const changes: TreeChange[] = [];
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const [, oldMode = '', newMode = '', oldBlob = '', newBlob = ''] =
      /^:(\d+) (\d+) ([0-9a-f]+) ([0-9a-f]+) /.exec(fields[at] ?? '') ?? [];
    const name = fields[at + 1] ?? '';
    const change = { name, from: contentOf(oldMode, oldBlob), to: contentOf(newMode, newBlob) };
    // The tree was made from names of this machine, and still: never anything in a .git.
    const isOurs = !name.split('/').some((step) => /^\.git$/i.test(step) || step === '..');
    if (isOurs && (change.from || change.to)) changes.push(change);
  }
  return changes;
}

/** Undefined for nothing, and for a repository inside another. */
function contentOf(mode: string, blob: string): Content | undefined {
  const kind = ({ '100644': 'file', '100755': 'program', '120000': 'link' } as const)[mode];
  return kind && { kind, blob };
}

/** What would be done, as far as names tell. */
async function allowed(
  changes: readonly TreeChange[],
  { top }: Shadow,
): Promise<Pick<Restored, 'done' | 'left'>> {
  return each(changes, (change) => refuseRun(join(top, change.name), change));
}

/** A file that somebody runs unasked does not come back unasked either, nor a link that makes others such files. */
async function refuseRun(path: string, { name, to }: Pick<TreeChange, 'name' | 'to'>): Promise<void> {
  await refuseProtected({ path }, name);
  if (to?.kind === 'link' && couldHoldProtected(path))
    throw protectedError(name, 'as a link it could lead to files that are run');
}

async function each(changes: readonly TreeChange[], act: (change: TreeChange) => Promise<void>) {
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

async function apply(changes: readonly TreeChange[], restoration: Restoration) {
  const { shadow, workspace, signal, since } = restoration;
  // What others run is left before the gate is asked; names with characters that nobody sees come back like all.
  const gate = rooted(workspace).consenting({ allows: () => true, agreed: () => false });
  const staged = join(shadow.folder, `staged.${globalThis.crypto.randomUUID()}`);
  // First what goes: a file can be in the way of a folder, and the other way round.
  const ordered = changes.toSorted((a, b) => Number(a.to !== undefined) - Number(b.to !== undefined));
  const emptied = new Set(ordered.filter(({ to }) => !to).map(({ name }) => dirname(name)));
  const closed = closedIn(shadow);
  try {
    const fileOf = await stage(ordered, staged, restoration);
    let isEmptied = false;
    const brought = await each(ordered, async (change) => {
      // What has been done can be undone; the rest is told.
      if (signal.aborted) throw left('the call was cancelled');
      if (change.to && !isEmptied) await removeEmptied(emptied, shadow, gate);
      isEmptied ||= change.to !== undefined;
      const file = { source: fileOf(change), isClosed: closed.has(change.name), since };
      await atPlace(change, shadow, gate, (place) => bringBack(place, change, file));
    });
    if (!isEmptied) await removeEmptied(emptied, shadow, gate);
    return brought;
  } finally {
    rmSync(staged, { recursive: true, force: true });
    discard(`${staged}.index`);
  }
}

/** Writes what is to come back into a folder of ours, under numbers for names: what a tree calls its files leads nowhere. */
async function stage(changes: readonly TreeChange[], folder: string, { shadow, ask }: Restoration) {
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
  return (change: TreeChange) => join(folder, String(changes.indexOf(change)));
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

/** Without waiting in between: no other call of this process comes before the next line, and next to no other program. */
function bringBack(place: Place, { from, to }: TreeChange, { source, isClosed, since }: File): void {
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
