import { lstat, readdir, rm } from 'node:fs/promises';
import { join, relative } from 'node:path';
import type { Workspace } from '../../core/tool.ts';
import { addFiles } from './add-files.ts';
import { shownName, sortChanges, type ChangedFiles } from './changed-files.ts';
import { rememberClosed } from './closed-files.ts';
import { readPrivate } from '../folders.ts';
import { openScopes } from './open-scopes.ts';
import { runGit, type Git } from './shadow-repository.ts';
import {
  copyIndex,
  isInUse,
  readCurrent,
  readGrown,
  replaceFile,
  writeCurrent,
  writeGrown,
  type Current,
  type Shadow,
} from './shadow-store.ts';
import { rooted } from '../paths/workspace.ts';

export interface Limits {
  readonly ms: number;
  /** Of files that have changed since the last one. */
  readonly bytes: number;
}

export interface Subject {
  readonly shadow: Shadow;
  readonly git: Git;
  readonly limits: Limits;
  readonly workspace: Workspace;
  readonly signal: AbortSignal;
}

export interface Snapshot {
  readonly index: string;
  readonly tree: string;
  /** The checkpoint that holds it already. */
  readonly same?: Current['checkpoint'];
  readonly notes: readonly string[];
}

/** Why there is no snapshot; `again` says whether the next try may end better. */
export class NoSnapshot extends Error {
  readonly again: boolean;
  constructor(why: string, again: boolean) {
    super(why);
    this.again = again;
  }
}

const excludesBytes = 64 * 1024;
/** What may come in before it is tidied up, which only a server that stays does. */
const mostGrown = 1024 * 1024 * 1024;

/** The shadow holds so much that another has to be begun. */
export class Overgrown extends Error {}

/**
 * Keeps the content of a work tree in its shadow: what is not ignored, without nested repositories. Reads only what has
 * changed since the last time. Throws NoSnapshot at a limit, Overgrown, and GitFailure.
 */
export async function takeSnapshot({ shadow, git, limits, workspace, signal }: Subject): Promise<Snapshot> {
  const ask = (args: readonly string[], index: string, input?: Buffer) =>
    runGit(shadow.folder, git, { args, workTree: shadow.top, index, signal, ...(input ? { input } : {}) });

  const [current] = await Promise.all([readCurrent(shadow), takeExcludes(shadow, workspace)]);
  const below = shadow.scopes.map((scope) => relative(shadow.top, scope)).filter((path) => path !== '');
  const list = ['ls-files', '-z', '--others', '--modified', '--exclude-standard'];
  const listed = await ask(
    below.length > 0 ? [...list, '--', ...below] : list,
    current?.index ?? 'index.none',
  );
  const changed = await sortChanges(listed, shadow.top, join(shadow.folder, '..', '..'), signal);
  const notes = changed.unreadable > 0 ? [`without ${changed.unreadable} files that cannot be read`] : [];
  const isSame = changed.add.length === 0 && changed.remove.length === 0;
  if (isSame && current?.checkpoint) {
    return { index: current.index, tree: current.checkpoint.tree, same: current.checkpoint, notes };
  }
  await grow(shadow, sizeOf(changed, limits));
  await rememberClosed(
    shadow,
    changed.add.filter(({ isClosed }) => isClosed).map(({ name }) => name),
  );

  const index = await copyIndex(shadow, current?.index);
  let done = 0;
  // What git is interrupted in may hold what nobody has looked at.
  let checked: string | undefined;
  try {
    const scopes = await openScopes(shadow, workspace);
    try {
      const adding = {
        ask: (args: readonly string[], input?: Buffer) => ask(args, index, input),
        scopes,
        signal,
      };
      await addFiles(changed, adding, async ({ files, isLast }) => {
        done += files;
        const copy = isLast ? index : await copyIndex(shadow, index);
        if (checked !== undefined) await rm(join(shadow.folder, checked), { force: true });
        checked = copy;
      });
    } finally {
      await scopes.close();
    }
    const tree = (await ask(['write-tree'], index)).toString().trim();
    const { checkpoint } = current ?? {};
    return { index, tree, notes, ...(checkpoint?.tree === tree ? { same: checkpoint } : {}) };
  } catch (error) {
    await removeHalf(shadow, index);
    if (checked !== index) await rm(join(shadow.folder, index), { force: true });
    if (!signal.aborted || checked === undefined) {
      if (checked !== undefined) await rm(join(shadow.folder, checked), { force: true });
      throw error;
    }
    await writeCurrent(shadow, { index: checked, checkpoint: undefined });
    throw new NoSnapshot(
      `${done} of ${changed.add.length} files could be read in ${limits.ms / 1000} s; the next action goes on from there`,
      true,
    );
  }
}

/** Throws NoSnapshot when it is too much. */
function sizeOf({ add }: ChangedFiles, { bytes }: Limits): number {
  const total = add.reduce((sum, { size }) => sum + size, 0);
  if (total <= bytes) return total;
  const largest = add.reduce((most, one) => (one.size > most.size ? one : most));
  throw new NoSnapshot(
    `more than ${inMegabytes(bytes)} have changed or are new (largest: ${JSON.stringify(shownName(largest.name))}, ${inMegabytes(largest.size)}); what is in .gitignore is left out`,
    false,
  );
}

/** Throws Overgrown. */
async function grow(shadow: Shadow, bytes: number): Promise<void> {
  const grown = (await readGrown(shadow)) + bytes;
  if (grown > mostGrown) throw new Overgrown();
  await writeGrown(shadow, grown);
}

const inMegabytes = (bytes: number): string =>
  bytes < 1024 * 1024 ? `${Math.ceil(bytes / 1024)} KB` : `${Math.round(bytes / 1024 / 1024)} MB`;

/** What git had begun when it was ended. Another server's is not touched. */
async function removeHalf(shadow: Shadow, index: string): Promise<void> {
  await rm(join(shadow.folder, `${index}.lock`), { force: true });
  const packs = join(shadow.folder, 'objects', 'pack');
  const begun = (await readdir(packs)).filter((name) => name.startsWith('tmp_'));
  // Whoever has begun after this list was made is not in it, and whoever began before has an index by now.
  if (begun.length === 0 || (await isInUse(shadow, index))) return;
  for (const name of begun) await rm(join(packs, name), { force: true });
}

/** What the project ignores on this machine alone. Of all in `.git` this is the one file that is read: patterns. */
async function takeExcludes({ top, folder }: Shadow, workspace: Workspace): Promise<void> {
  const theirs = await readExcludes(join(top, '.git', 'info', 'exclude'), workspace);
  if (!readPrivate(join(folder, 'info'), 'exclude')?.equals(theirs))
    await replaceFile(join(folder, 'info', 'exclude'), theirs);
}

async function readExcludes(path: string, workspace: Workspace): Promise<Buffer> {
  const nothing = Buffer.alloc(0);
  if ((await lstat(path).catch(() => undefined)) === undefined) return nothing;
  // Outside the roots, a link, no plain file: then it counts as empty, and more is kept.
  const opened = await rooted(workspace)
    .openFile(path)
    .catch(() => undefined);
  if (!opened) return nothing;
  try {
    return opened.stat.size > excludesBytes ? nothing : await opened.handle.readAll();
  } finally {
    await opened.handle.close();
  }
}
