import { createHash } from 'node:crypto';
import { existsSync, lstatSync, mkdirSync, readFileSync, readlinkSync, rmSync, type Stats } from 'node:fs';
import { symlinkSync, unlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { ToolcribError } from '../../core/errors.ts';
import { discard } from '../../store/own-files.ts';
import { foldersAbove, lookOnceMore, removeMade, type PathTarget } from '../paths/path-target.ts';
import { couldHoldProtected, protectedError, refuseProtected } from '../paths/protected-paths.ts';
import type { RootedWorkspace } from '../paths/workspace.ts';
import { temporaryName } from './entry.ts';
import { changedSince, mostChangedBytes, unwritable } from './failures.ts';
import type { WorkTreeStates } from './checkpoints.ts';
import { isConcerned, type Selection } from './log.ts';
import type { Shadow } from './shadow.ts';
import { putFile, readExisting } from './write.ts';

/** A path that an undo has changed, or would. */
export interface UndoneFile {
  readonly path: string;
  readonly did: 'changed' | 'made' | 'removed' | 'moved';
  /** The path before it was moved back. */
  readonly from?: string | undefined;
  /** The content before and after; only of files that are neither too many nor too large to be shown. */
  readonly was?: Buffer | undefined;
  readonly is?: Buffer | undefined;
}

/** A path that an undo has left as it was. */
export interface SkippedFile {
  readonly path: string;
  readonly error: ToolcribError;
}

/**
 * A path that two trees do not have alike: the entry it must have to be changed, and the entry it then has.
 */
interface TreeChange {
  readonly path: string;
  /** Below the top, with `/` between names. */
  readonly name: string;
  readonly from: TreeEntry | undefined;
  readonly to: TreeEntry | undefined;
}

/** The mode of a file, as git writes it, and the SHA-1 of its blob. */
interface TreeEntry {
  readonly mode: string;
  readonly blob: string;
}

const [program, link] = ['100755', '120000'];

/** The changes to undo, and the way to do so. */
export interface UndoRequest extends Selection {
  readonly workspace: RootedWorkspace;
  readonly dryRun: boolean;
  readonly signal: AbortSignal;
  /** The kind of the changes that this makes. */
  readonly kind: string;
  readonly states: WorkTreeStates;
  /** In a dry run: paths that are taken to be as they must, since a newer change is undone first. */
  readonly assumed: Set<string>;
}

/** The result of undoing one change. */
export interface RestoreOutcome {
  readonly files: readonly UndoneFile[];
  readonly left: readonly SkippedFile[];
  /** The id of the change that this made. */
  readonly by?: string | undefined;
}

/** Files beyond these are not shown. */
const mostShown = 20;

/**
 * Makes files what they were, one by one, each in one step, from one tree's to another's, as far as they are
 * what they have to be; or tells which with `dryRun`. Throws what `ask` of a shadow throws; then nothing was
 * changed.
 */
export async function restoreTree(
  shadow: Shadow,
  [from, to]: readonly [from: string, to: string],
  undoing: UndoRequest,
): Promise<RestoreOutcome> {
  const { dryRun, signal } = undoing;
  const changes = await changesBetween(shadow, from, to, undoing);
  const { ownerOnly } = shadow;
  const staged = join(shadow.folder, `staged.${globalThis.crypto.randomUUID()}`);
  const [files, left]: [UndoneFile[], SkippedFile[]] = [[], []];
  try {
    await stage(changes, staged, shadow);
    for (const change of changes) {
      // What has been done can be undone; the rest is told.
      if (signal.aborted) break;
      try {
        const done = await restoreFile(change, { staged, ownerOnly }, undoing);
        if (done) files.push(files.length < mostShown ? done : { path: done.path, did: done.did });
        if (done?.did === 'removed' && !dryRun) removeMade(foldersAbove(change.path, shadow.top));
      } catch (error) {
        left.push({ path: change.path, error: unwritable(change.path, error) });
      }
    }
    return { files, left };
  } finally {
    rmSync(staged, { recursive: true, force: true });
    discard(`${staged}.index`);
  }
}

/** Lists removals first: a file can be in the way of a folder, and the other way round. */
async function changesBetween(
  shadow: Shadow,
  from: string,
  to: string,
  { paths, workspace }: UndoRequest,
): Promise<TreeChange[]> {
  const raw = await shadow.ask(['diff-tree', '-r', '-z', '--raw', '--no-renames', '--no-abbrev', from, to]);
  // Neither nothing nor a repository inside another, whose mode is 160000.
  const entry = (mode = '', blob = '') => (/^1[02]/.test(mode) ? { mode, blob } : undefined);
  return [...raw.matchAll(/:(\d+) (\d+) (\w+) (\w+) \w\0([^\0]+)\0/g)]
    .map(([, oldMode, newMode, oldBlob, newBlob, name = '']) => {
      const ends = { from: entry(oldMode, oldBlob), to: entry(newMode, newBlob) };
      return { path: join(shadow.top, name), name, ...ends };
    })
    .filter((change) => {
      // The tree was made from names of this machine, and still: never anything in a .git.
      const leadsOut = change.name.split('/').some((step) => /^(?:\.git|\.\.)$/i.test(step));
      const isMeant = isConcerned(change.path, paths) && !workspace.denies(change.path, 'write');
      return isMeant && !leadsOut && (change.from ?? change.to);
    })
    .toSorted((a, b) => Number(a.to !== undefined) - Number(b.to !== undefined));
}

/** Checks blobs out into a folder of ours, by their hash: the names in a tree lead nowhere. */
async function stage(changes: readonly TreeChange[], folder: string, { ask }: Shadow): Promise<void> {
  mkdirSync(folder, { mode: 0o700 });
  const call = { workTree: folder, index: `${folder}.index` };
  const lines = changes.flatMap(({ to }) => (to ? [`100644 ${to.blob}\t${to.blob}`] : []));
  await ask(['update-index', '-z', '--index-info'], { ...call, lines });
  if (lines.length > 0) await ask(['checkout-index', '--all', '--force'], call);
}

/** Restores one path. Undefined when it has that entry already. */
async function restoreFile(
  { path, name, from, to }: TreeChange,
  { staged, ownerOnly }: { readonly staged: string; readonly ownerOnly: ReadonlySet<unknown> },
  { workspace, dryRun, assumed }: UndoRequest,
): Promise<UndoneFile | undefined> {
  // A file that is run unasked does not come back unasked, nor a link that leads to such files.
  refuseProtected({ path }, name);
  if (to?.mode === link && couldHoldProtected(path))
    throw protectedError(name, 'as a link it could lead to files that are run');
  const did = !to ? 'removed' : from ? 'changed' : 'made';
  const is = to && readFileSync(join(staged, to.blob));
  if (dryRun && assumed.has(path)) return { path, did, is };
  if (!existsSync(dirname(path)) && (!to || dryRun)) return to && { path, did, is };
  // What others run has been refused; names with characters that nobody sees come back like all.
  const gate = workspace.consenting(() => true);
  return gate.atPlace(path, { make: to !== undefined && !dryRun, exactly: true }, async (place) => {
    const found = entryAt(place);
    if (found?.blob === to?.blob && found?.mode === to?.mode) return undefined;
    if (found?.blob !== from?.blob) throw changedSince(path);
    // A key must not come back open.
    const open = ownerOnly.has(name) ? 0o600 : 0o666 & ~process.umask();
    if (!dryRun) await putEntry(place, found, is && { bytes: is, mode: to.mode, open });
    return { path, did, was: found?.bytes, is };
  });
}

interface PresentEntry extends TreeEntry {
  readonly bytes: Buffer;
  /** Of a regular file. */
  readonly stat?: Stats;
}

/** The entry at a path, as git would have it. Throws STALE_FILE for what is neither a file nor a link. */
function entryAt(place: PathTarget): PresentEntry | undefined {
  const found = lstatSync(place.at, { throwIfNoEntry: false });
  if (!found) return undefined;
  if (found.isSymbolicLink()) {
    const bytes = readlinkSync(place.at, 'buffer');
    return { mode: link, bytes, blob: blobOf(bytes) };
  }
  if (!found.isFile() || found.size > mostChangedBytes) throw changedSince(place.path);
  const file = readExisting(place);
  const mode = (found.mode & 0o100) === 0 ? '100644' : program;
  return file && { mode, bytes: file.bytes, stat: file.stat, blob: blobOf(file.bytes) };
}

const blobOf = (bytes: Buffer): string =>
  createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex');

/** Gives a path its next entry, or none. `open`: the permissions of a file where none is. */
async function putEntry(
  place: PathTarget,
  found: PresentEntry | undefined,
  next: { readonly bytes: Buffer; readonly mode: string; readonly open: number } | undefined,
): Promise<void> {
  lookOnceMore(place);
  const stat = next && next.mode !== link ? found?.stat : undefined;
  if (found && !stat) unlinkSync(place.at);
  if (!next) return;
  if (next.mode === link) {
    symlinkSync(next.bytes, place.at);
    return;
  }
  const plain = stat ? stat.mode & 0o666 : next.open;
  // All who may read it may run it, as git does.
  const mode = next.mode === program ? plain | ((plain & 0o444) >> 2) : plain;
  await putFile(place, stat && { stat }, next.bytes, { temporary: temporaryName(), mode });
}
