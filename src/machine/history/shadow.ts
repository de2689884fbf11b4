import { accessSync, constants, copyFileSync, existsSync, lstatSync, mkdirSync, readdirSync } from 'node:fs';
import { renameSync, utimesSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { discard, isPrivate, makePrivate, readPrivate, writePrivate } from '../../store/own-files.ts';
import { isInside, outermost } from '../paths/inside.ts';
import { realPath } from '../paths/real-path.ts';
import { askGit, GitFailure, type AskGit, type GitSource } from './ask-git.ts';
import { appendLine, readLines, sha256 } from './log.ts';

/** A work tree, and the part of it that checkpoints hold. */
export interface WorkTree {
  /** The folder that has `.git`; it may lie above the roots. */
  readonly top: string;
  /** The part that is open to the model: the top itself, or the root below it. */
  readonly scope: string;
}

/** Names below the top of a work tree. */
interface SortedNames {
  readonly add: readonly string[];
  readonly remove: readonly string[];
  readonly skipped: readonly string[];
}

/** A snapshot of a work tree. */
export interface Snapshot {
  /** The git tree that holds it. */
  readonly tree: string;
  /** Files that were skipped: too large, not readable, or with a name that is not UTF-8. */
  readonly skipped: readonly string[];
}

/**
 * The work tree that a folder inside the roots belongs to, whether or not it is there; undefined when it
 * belongs to none. Above the roots only the existence of `.git` is asked for; of what is in there nothing is
 * read.
 */
export function workTreeOf(given: string, roots: readonly string[]): WorkTree | undefined {
  const folder = realPath(given);
  const root = outermost(folder, roots);
  if (root === undefined) return undefined;
  for (let top = folder; ; top = dirname(top)) {
    if (isTop(top)) return { top, scope: isInside(top, root) ? top : root };
    if (top === dirname(top)) return undefined;
  }
}

function isTop(folder: string): boolean {
  const found = lstatSync(join(folder, '.git'), { throwIfNoEntry: false });
  // A linked worktree or a submodule has a file there. An empty folder of that name is none to git either.
  return found?.isDirectory() ? existsSync(join(folder, '.git', 'HEAD')) : found !== undefined;
}

const [refs, attributes] = ['refs/checkpoints', 'info/attributes'];
const [current, ownerOnlyFiles] = ['current', 'closed.jsonl'];
const mostSnapshots = 100;
const quotaKilobytes = 1024 ** 2;
/** The age up to which a file may be in use by another server. */
const youngMs = 15 * 60_000;
/** A larger file is skipped. */
const mostFileBytes = 64 * 1024 * 1024;

/**
 * A shadow repository: a git folder of ours with the snapshots of one work tree. Several servers may use it
 * at once.
 */
export class Shadow implements WorkTree {
  readonly folder: string;
  readonly top: string;
  readonly scope: string;
  readonly ask: AskGit;

  constructor(shadows: string, { top, scope }: WorkTree, git: GitSource, roots: readonly string[]) {
    // Another root sees another part of the same tree, which is another content.
    this.folder = join(shadows, sha256(JSON.stringify([top, scope])).slice(0, 32));
    this.top = top;
    this.scope = scope;
    this.ask = askGit(git, this, roots);
  }

  /** The index of the last snapshot, and the tree that it was written to; undefined before the first. */
  get current(): { index: string; tree: string } | undefined {
    const name = readPrivate(this.folder, current)?.toString() ?? '';
    const [, tree] = /^index\.([0-9a-f]{40})\.[-0-9a-f]{36}$/.exec(name) ?? [];
    return tree !== undefined && existsSync(join(this.folder, name)) ? { index: name, tree } : undefined;
  }

  /** Files that only their owner may read, which a git tree does not say: a key must not come back open. */
  get ownerOnly(): ReadonlySet<unknown> {
    return new Set(readLines(this.folder, ownerOnlyFiles));
  }

  has(tree: string): boolean {
    return existsSync(join(this.folder, refs, tree));
  }

  /**
   * Takes a snapshot of the work tree: all that is not ignored, without nested repositories. Reads only what
   * has changed since the last one. Throws GitFailure, and what the system says.
   */
  async snapshot(): Promise<Snapshot> {
    this.#open();
    try {
      return await this.#write();
    } catch (error) {
      if (!(error instanceof GitFailure)) throw error;
      // Files vanish while git reads them, and one of ours may be damaged: once more, from the beginning.
      for (const name of [current, attributes]) discard(join(this.folder, name));
      this.#open();
      return this.#write();
    }
  }

  /**
   * Removes snapshots beyond their number and quota, and lets git drop what none needs. Throws GitFailure.
   */
  async tidy(): Promise<void> {
    const index = this.current?.index;
    const unused = newestFirst(this.folder).filter(({ name }) => name.startsWith('index.') && name !== index);
    for (const { path, age } of unused) if (age > youngMs) discard(path);
    const snapshots = newestFirst(join(this.folder, refs));
    const sizes = (await this.ask(['count-objects', '-v'])).matchAll(/^size(?:-pack)?: (\d+)$/gm);
    const isOverQuota = [...sizes].reduce((sum, [, size]) => sum + Number(size), 0) > quotaKilobytes;
    const most = isOverQuota ? Math.ceil(Math.min(snapshots.length, mostSnapshots) / 2) : mostSnapshots;
    if (snapshots.length <= most) return;
    for (const { path } of snapshots.slice(most)) discard(path);
    await this.ask(['gc', '--quiet', '--prune=10.minutes.ago'], { workTree: this.folder });
  }

  /**
   * Makes the repository without git, so that no template adds hooks. Throws for a folder that is not
   * private.
   */
  #open(): void {
    const { folder } = this;
    if (isPrivate(folder) && existsSync(join(folder, attributes))) return;
    for (const each of [dirname(dirname(folder)), dirname(folder), folder])
      if (!makePrivate(each)) throw new Error(`${each} is not a folder of this user alone`);
    for (const name of ['objects/pack', refs, dirname(attributes)])
      mkdirSync(join(folder, name), { recursive: true, mode: 0o700 });
    writePrivate(folder, 'HEAD', 'ref: refs/heads/none\n');
    // Takes precedence over every .gitattributes (gitattributes(5)): bytes go in and come out as they are.
    const exactly = '* -text -eol -crlf -ident -filter -working-tree-encoding -diff -merge -export-subst\n';
    writePrivate(folder, attributes, exactly);
  }

  async #write(): Promise<Snapshot> {
    const { folder, top, scope, current } = this;
    // The project's ignore patterns for this machine alone: the one file in `.git` that is read.
    const git = ['-c', `core.excludesFile=${join(top, '.git', 'info', 'exclude')}`, '--literal-pathspecs'];
    const list = ['ls-files', '-z', '-t', '--others', '--modified', '--exclude-standard', '--'];
    const listed = await this.ask([...git, ...list, relative(top, scope) || '.'], { index: current?.index });
    const sorted = await this.#sort(listed);
    const isSame = current && sorted.add.length === 0 && sorted.remove.length === 0;
    const tree = isSame ? current.tree : await this.#writeTree(sorted, current?.index);
    // Written anew, it is the youngest of all.
    writePrivate(join(folder, refs), tree, `${tree}\n`);
    return { tree, skipped: sorted.skipped };
  }

  /**
   * Sorts what git listed: files and links to add, entries of the index that are no files any more, and files
   * to skip. Asks the system about each name without a thread in between: ten times faster.
   */
  async #sort(listed: string): Promise<SortedNames> {
    const { top, folder, ownerOnly } = this;
    // Outside it begins with "..", and so does nothing that git lists.
    const own = `${relative(top, join(folder, '..', '..')).replaceAll(sep, '/')}/`;
    const [add, remove, skipped]: [string[], string[], string[]] = [[], [], []];
    for (const [at, line] of [...new Set(listed.split('\0'))].entries()) {
      // Others have their turn every few milliseconds.
      if (at % 1000 === 999) await setImmediate();
      const [isIndexed, name] = [!line.startsWith('?'), line.slice(2)];
      // A name with a slash at its end is a repository inside this one, whose files are its own affair.
      if (name === '' || name.endsWith('/') || name.startsWith(own)) continue;
      if (/(?:^|\/)\.toolcrib-[0-9a-f]{16}\.tmp$/.test(name)) continue;
      const kind = name.includes('\ufffd') ? 'unreadable' : kindOf(join(top, name));
      if (kind === 'unreadable') skipped.push(name);
      if (kind === 'file' || kind === 'owner-only file') add.push(name);
      else if (isIndexed) remove.push(name);
      if (kind === 'owner-only file' && !ownerOnly.has(name)) appendLine(folder, ownerOnlyFiles, name);
    }
    return { add, remove, skipped };
  }

  /**
   * Writes a tree from a copy of the index, which then is the current one: a kill leaves the old one as it
   * was.
   */
  async #writeTree({ add, remove }: SortedNames, from: string | undefined): Promise<string> {
    const { folder } = this;
    const unique = globalThis.crypto.randomUUID();
    const index = `index.new.${unique}`;
    if (from !== undefined) copyIndex(join(folder, from), join(folder, index));
    const update = ['update-index', '-z', '--add', '--replace', '--remove', '--stdin'];
    await this.ask(['update-index', '-z', '--force-remove', '--stdin'], { index, lines: remove });
    await this.ask(update, { index, lines: add });
    const tree = (await this.ask(['write-tree'], { index })).trim();
    // An empty tree has no index file; the next snapshot is the first again.
    if (!existsSync(join(folder, index))) return tree;
    const complete = `index.${tree}.${unique}`;
    renameSync(join(folder, index), join(folder, complete));
    writePrivate(folder, current, complete);
    return tree;
  }
}

/** The kind of what is at a path; undefined for what is neither a file nor a link. */
function kindOf(path: string): 'file' | 'owner-only file' | 'unreadable' | undefined {
  try {
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found?.isSymbolicLink()) return 'file';
    if (!found?.isFile()) return undefined;
    if (found.size > mostFileBytes) return 'unreadable';
    accessSync(path, constants.R_OK);
    return (found.mode & 0o077) === 0 ? 'owner-only file' : 'file';
  } catch (error) {
    // Any other failure: the folder may not be entered, or is none any more.
    return (error as NodeJS.ErrnoException).syscall === 'access' ? 'unreadable' : undefined;
  }
}

function copyIndex(from: string, to: string): void {
  const { atimeMs, mtimeMs } = lstatSync(from);
  copyFileSync(from, to, constants.COPYFILE_EXCL);
  // By its time git knows which files may have changed unseen just after they were read ("racy git"), so the
  // copy must not be younger.
  utimesSync(to, Math.floor(atimeMs / 1000), Math.floor(mtimeMs / 1000));
}

const newestFirst = (folder: string) =>
  readdirSync(folder)
    .map((name) => ({ name, path: join(folder, name) }))
    .map((file) => ({ ...file, age: Date.now() - lstatSync(file.path).mtimeMs }))
    .toSorted((a, b) => a.age - b.age);
