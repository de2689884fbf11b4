import { accessSync, constants, copyFileSync, existsSync, lstatSync, mkdirSync, readdirSync } from 'node:fs';
import { renameSync, utimesSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { discard, isPrivate, makePrivate, readPrivate, writePrivate } from '../../store/own-files.ts';
import { isInside, outermost } from '../paths/inside.ts';
import { realPath } from '../paths/real-path.ts';
import { askGit, GitFailure, type AskGit, type GitSource } from './ask-git.ts';
import { appendLine, readLines, sha256 } from './log.ts';

/** A work tree, and what part of it is kept. */
export interface WorkTree {
  /** The folder that has `.git`; it may lie above the roots. */
  readonly top: string;
  /** The part that is open to the model: the whole tree, or the root below it. */
  readonly scope: string;
}

/** A state of a work tree that is kept. */
export interface Snapshot {
  /** The git tree that holds it. */
  readonly tree: string;
  /** Files that are too large, not readable, or not called in UTF-8, and so were left out. */
  readonly left: readonly string[];
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

const [states, attributes] = ['refs/checkpoints', 'info/attributes'];
const [current, closedFiles] = ['current', 'closed.jsonl'];
const mostStates = 100;
const quotaKilobytes = 1024 ** 2;
/** The age below which an index may be in use by another server. */
const youngMs = 15 * 60_000;
/** A larger file is left out. */
const mostFileBytes = 64 * 1024 * 1024;

/** The git folder of ours that keeps the states of one work tree. Several servers may use it at once. */
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

  /** Which files only their owner may read, which a git tree does not say: a key must not come back open. */
  get closed(): ReadonlySet<unknown> {
    return new Set(readLines(this.folder, closedFiles));
  }

  has(tree: string): boolean {
    return existsSync(join(this.folder, states, tree));
  }

  /**
   * Keeps the content of the work tree: what is not ignored, without nested repositories. Reads only what has
   * changed since the last time. Throws GitFailure, and what the system says.
   */
  async snapshot(): Promise<Snapshot> {
    this.#open();
    try {
      return await this.#take();
    } catch (error) {
      if (!(error instanceof GitFailure)) throw error;
      // Files vanish while git reads them, and one of ours may be damaged: once more, from the beginning.
      for (const name of [current, attributes]) discard(join(this.folder, name));
      this.#open();
      return this.#take();
    }
  }

  /** Forgets what is too many or too much, and lets git drop what nothing needs. Throws GitFailure. */
  async tidy(): Promise<void> {
    const index = this.current?.index;
    const unused = newestFirst(this.folder).filter(({ name }) => name.startsWith('index.') && name !== index);
    for (const { path, age } of unused) if (age > youngMs) discard(path);
    const kept = newestFirst(join(this.folder, states));
    const sizes = (await this.ask(['count-objects', '-v'])).matchAll(/^size(?:-pack)?: (\d+)$/gm);
    const isMuch = [...sizes].reduce((sum, [, size]) => sum + Number(size), 0) > quotaKilobytes;
    const most = isMuch ? Math.ceil(Math.min(kept.length, mostStates) / 2) : mostStates;
    if (kept.length <= most) return;
    for (const { path } of kept.slice(most)) discard(path);
    await this.ask(['gc', '--quiet', '--prune=10.minutes.ago'], { workTree: this.folder });
  }

  /** Makes it without git, so that no template adds hooks. Throws for a folder that is not private. */
  #open(): void {
    const { folder } = this;
    if (isPrivate(folder) && existsSync(join(folder, attributes))) return;
    for (const each of [dirname(dirname(folder)), dirname(folder), folder])
      if (!makePrivate(each)) throw new Error(`${each} is not a folder of this user alone`);
    for (const name of ['objects/pack', states, dirname(attributes)])
      mkdirSync(join(folder, name), { recursive: true, mode: 0o700 });
    writePrivate(folder, 'HEAD', 'ref: refs/heads/none\n');
    // Takes precedence over every .gitattributes (gitattributes(5)): bytes go in and come out as they are.
    const exactly = '* -text -eol -crlf -ident -filter -working-tree-encoding -diff -merge -export-subst\n';
    writePrivate(folder, attributes, exactly);
  }

  async #take(): Promise<Snapshot> {
    const { folder, top, scope, current } = this;
    // What the project ignores on this machine alone. Of all in `.git` this is the one file that is read:
    // patterns.
    const git = ['-c', `core.excludesFile=${join(top, '.git', 'info', 'exclude')}`, '--literal-pathspecs'];
    const list = ['ls-files', '-z', '-t', '--others', '--modified', '--exclude-standard', '--'];
    const listed = await this.ask([...git, ...list, relative(top, scope) || '.'], { index: current?.index });
    const sorted = await this.#sort(listed);
    const isSame = current && sorted.add.length === 0 && sorted.remove.length === 0;
    const tree = isSame ? current.tree : await this.#writeTree(sorted, current?.index);
    // Written anew, it is the youngest of all.
    writePrivate(join(folder, states), tree, `${tree}\n`);
    return { tree, left: sorted.left };
  }

  /**
   * Sorts the names that git listed: files and links to read, names of the index that are no files any more,
   * and names that are left out. The system is asked about each without a thread in between: ten times
   * faster.
   */
  async #sort(listed: string) {
    const { top, folder, closed } = this;
    // Outside it begins with "..", and so does nothing that git lists.
    const own = `${relative(top, join(folder, '..', '..')).replaceAll(sep, '/')}/`;
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
      if (kind === 'closed file' && !closed.has(name)) appendLine(folder, closedFiles, name);
    }
    return { add, remove, left };
  }

  /**
   * Writes a tree from a copy of an index, the current one then: whoever is killed leaves the old as it was.
   */
  async #writeTree(
    { add, remove }: Readonly<Record<'add' | 'remove', string[]>>,
    from: string | undefined,
  ): Promise<string> {
    const { folder } = this;
    const unique = globalThis.crypto.randomUUID();
    const index = `index.new.${unique}`;
    if (from !== undefined) copyIndex(join(folder, from), join(folder, index));
    // simple-git waits 50 ms longer for a program that prints nothing.
    const update = ['update-index', '--verbose', '--add', '--replace', '--remove', '--'];
    await this.ask(['update-index', '--verbose', '--force-remove', '--'], {
      index,
      groups: remove.map((name) => [name]),
    });
    await this.ask(update, { index, groups: add.map((name) => [name]) });
    const tree = (await this.ask(['write-tree'], { index })).trim();
    // Without one there is nothing in it, and the next is the first again.
    if (!existsSync(join(folder, index))) return tree;
    const whole = `index.${tree}.${unique}`;
    renameSync(join(folder, index), join(folder, whole));
    writePrivate(folder, current, whole);
    return tree;
  }
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
