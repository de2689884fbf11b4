import { accessSync, constants, copyFileSync, existsSync, lstatSync, renameSync, utimesSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { discard, readPrivate, writePrivate } from '../../own-files/own-files.ts';
import { appendLine, readLines } from './log.ts';
import { GitFailure, type AskGit, openShadow, type Shadow } from './shadow.ts';

/** A state of a work tree that is kept. */
export interface Snapshot {
  /** The git tree that holds it. */
  readonly tree: string;
  /** Files that are too large, not readable, or not called in UTF-8, and so were left out. */
  readonly left: readonly string[];
}

/** A larger file is left out. */
const mostFileBytes = 64 * 1024 * 1024;

/** The index of the last snapshot, and the tree that it was written to; undefined before the first. */
export function currentOf({ folder }: Shadow): { index: string; tree: string } | undefined {
  const name = readPrivate(folder, 'current')?.toString() ?? '';
  const [, tree] = /^index\.([0-9a-f]{40})\.[-0-9a-f]{36}$/.exec(name) ?? [];
  return tree !== undefined && existsSync(join(folder, name)) ? { index: name, tree } : undefined;
}

/**
 * Keeps the content of a work tree in its shadow: what is not ignored, without nested repositories. Reads only what has
 * changed since the last time. Throws GitFailure, and what the system says.
 */
export async function takeSnapshot(shadow: Shadow, ask: AskGit): Promise<Snapshot> {
  openShadow(shadow);
  try {
    return await take(shadow, ask);
  } catch (error) {
    if (!(error instanceof GitFailure) || error.exitCode === null) throw error;
    // Files vanish while git reads them, and one of ours may be damaged: once more, from the beginning.
    for (const name of ['current', 'whole']) discard(join(shadow.folder, name));
    openShadow(shadow);
    return take(shadow, ask);
  }
}

async function take(shadow: Shadow, ask: AskGit): Promise<Snapshot> {
  const { folder, top, scope } = shadow;
  const current = currentOf(shadow);
  // What the project ignores on this machine alone. Of all in `.git` this is the one file that is read: patterns.
  const git = ['-c', `core.excludesFile=${join(top, '.git', 'info', 'exclude')}`, '--literal-pathspecs'];
  const list = ['ls-files', '-z', '-t', '--others', '--modified', '--exclude-standard', '--'];
  const listed = await ask([...git, ...list, relative(top, scope) || '.'], { index: current?.index });
  const sorted = await sortListed(listed, shadow);
  const isSame = current && sorted.add.length === 0 && sorted.remove.length === 0;
  const tree = isSame ? current.tree : await writeTree(shadow, ask, sorted, current?.index);
  // Written anew, it is the youngest of all.
  writePrivate(join(folder, 'refs', 'checkpoints'), tree, `${tree}\n`);
  return { tree, left: sorted.left };
}

/**
 * What git listed, as names of files and links to read, of what is in the index and no file any more, and of what is
 * left out. The system is asked about each name without a thread in between: ten times faster.
 */
async function sortListed(listed: string, { top, folder }: Shadow) {
  // Outside it begins with "..", and so does nothing that git lists.
  const own = `${relative(top, join(folder, '..', '..')).replaceAll(sep, '/')}/`;
  const known = closedIn({ folder });
  const [add, remove, left]: [string[], string[], string[]] = [[], [], []];
  for (const [at, line] of [...new Set(listed.split('\0'))].entries()) {
    // Others have their turn every few milliseconds.
    if (at % 1000 === 999) await setImmediate();
    const [isIndexed, name] = [!line.startsWith('?'), line.slice(2)];
    // With a slash at the end: a repository inside this one, whose files are its own affair.
    if (name === '' || name.endsWith('/') || name.startsWith(own)) continue;
    if (/(?:^|\/)\.toolcrib-[0-9a-f]{16}\.tmp$/.test(name)) continue;
    const kind = name.includes('\ufffd') ? 'unreadable' : kindOf(join(top, name));
    if (kind === 'unreadable') left.push(name);
    if (kind === 'file' || kind === 'closed file') add.push(name);
    else if (isIndexed) remove.push(name);
    if (kind === 'closed file' && !known.has(name)) appendLine(folder, closedFiles, name);
  }
  return { add, remove, left };
}

function kindOf(path: string): 'file' | 'closed file' | 'unreadable' | undefined {
  try {
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found?.isSymbolicLink()) return 'file';
    if (!found?.isFile()) return undefined;
    if (found.size > mostFileBytes) return 'unreadable';
    accessSync(path, constants.R_OK);
    return (found.mode & 0o077) === 0 ? 'closed file' : 'file';
  } catch (error) {
    // Else it is in a folder that this user may not enter, or below what is none any more.
    return (error as NodeJS.ErrnoException).syscall === 'access' ? 'unreadable' : undefined;
  }
}

const closedFiles = 'closed.jsonl';

/** Which files only their owner may read, which a git tree does not say: a key must not come back open. */
export const closedIn = ({ folder }: Pick<Shadow, 'folder'>): ReadonlySet<unknown> =>
  new Set(readLines(folder, closedFiles));

/** Writes a tree from a copy of an index, which then is the current one: whoever is killed leaves the old as it was. */
async function writeTree(
  shadow: Shadow,
  ask: AskGit,
  { add, remove }: Readonly<Record<'add' | 'remove', string[]>>,
  from: string | undefined,
): Promise<string> {
  const { folder } = shadow;
  const unique = globalThis.crypto.randomUUID();
  const index = `index.new.${unique}`;
  if (from !== undefined) copyIndex(join(folder, from), join(folder, index));
  const update = ['update-index', '-z', '--add', '--replace', '--remove', '--stdin'];
  await ask(['update-index', '-z', '--force-remove', '--stdin'], { index, lines: remove });
  await ask(update, { index, lines: add });
  const tree = (await ask(['write-tree'], { index })).trim();
  // Without one there is nothing in it, and the next is the first again.
  if (!existsSync(join(folder, index))) return tree;
  const whole = `index.${tree}.${unique}`;
  renameSync(join(folder, index), join(folder, whole));
  writePrivate(folder, 'current', whole);
  return tree;
}

function copyIndex(from: string, to: string): void {
  const { atimeMs, mtimeMs } = lstatSync(from);
  copyFileSync(from, to, constants.COPYFILE_EXCL);
  // By its time git knows which files may have changed unseen just after they were read ("racy git"), so the copy must
  // not be younger.
  utimesSync(to, Math.floor(atimeMs / 1000), Math.floor(mtimeMs / 1000));
}
