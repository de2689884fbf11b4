import { existsSync, lstatSync, mkdirSync, readdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { discard, isPrivate, makePrivate, writePrivate } from '../../own-files/own-files.ts';
import { isInside, outermost } from '../paths/inside.ts';
import { realPath } from '../paths/real-path.ts';
import type { Run } from '../processes/process.ts';
import { sha256 } from './log.ts';

/** The git folder of ours that keeps the states of one work tree. Several servers may use it at once. */
export interface Shadow {
  readonly folder: string;
  /** The folder that has `.git`; it may lie above the roots. */
  readonly top: string;
  /** What of it is kept, since it is open to the model: itself, or the root below it. */
  readonly scope: string;
}

/**
 * The shadow of the work tree that a folder inside the roots belongs to, whether or not it is there; undefined when it
 * belongs to none. Above the roots only the existence of `.git` is asked for; of what is in there nothing is read.
 */
export function shadowFor(given: string, roots: readonly string[], shadows: string): Shadow | undefined {
  const folder = realPath(given);
  const root = outermost(folder, roots);
  if (root === undefined) return undefined;
  for (let top = folder; ; top = dirname(top)) {
    if (isTop(top)) return shadowOf({ top, scope: isInside(top, root) ? top : root }, shadows);
    if (top === dirname(top)) return undefined;
  }
}

function isTop(folder: string): boolean {
  const found = lstatSync(join(folder, '.git'), { throwIfNoEntry: false });
  // A linked worktree or a submodule has a file there. An empty folder of that name is none to git either.
  return found?.isDirectory() ? existsSync(join(folder, '.git', 'HEAD')) : found !== undefined;
}

/** Another root sees another part of the same tree, which is another content. */
export function shadowOf({ top, scope }: Pick<Shadow, 'top' | 'scope'>, shadows: string): Shadow {
  return { folder: join(shadows, sha256(JSON.stringify([top, scope])).slice(0, 32)), top, scope };
}

/** Makes it without git, so that no template adds hooks. Throws for a folder that is not private. */
export function openShadow({ folder }: Shadow): void {
  if (isPrivate(folder) && existsSync(join(folder, 'whole'))) return;
  for (const each of [dirname(dirname(folder)), dirname(folder), folder])
    if (!makePrivate(each)) throw new Error(`${each} is not a folder of this user alone`);
  for (const name of ['objects/pack', 'refs/checkpoints', 'info'])
    mkdirSync(join(folder, name), { recursive: true, mode: 0o700 });
  writePrivate(folder, 'HEAD', 'ref: refs/heads/none\n');
  writePrivate(folder, 'config', configuration());
  // Takes precedence over every .gitattributes (gitattributes(5)): bytes go in and come out as they are.
  const attributes = '* -text -eol -crlf -ident -filter -working-tree-encoding -diff -merge -export-subst\n';
  writePrivate(join(folder, 'info'), 'attributes', attributes);
  writePrivate(folder, 'whole', '');
}

/** All else is as git has it without a configuration. */
function configuration(): string {
  const [windows, apple] = [process.platform === 'win32', process.platform === 'darwin'];
  return `[core]
  repositoryFormatVersion = 0
  bare = true
  fileMode = ${!windows}
  ignoreCase = ${windows || apple}
  precomposeUnicode = ${apple}
  # Names that only another system would mistake for .git are kept.
  protectNTFS = ${windows}
  protectHFS = ${apple}
  longPaths = true
  compression = 0
  # A checkpoint that a power failure breaks is made anew; waiting for the disk would take most of the time there is.
  fsync = none
[gc]
  auto = 0
  # A state that is forgotten is a file that is removed.
  packRefs = false
`;
}

const mostStates = 100;
const quotaKilobytes = 1024 ** 2;
/** What is younger may be in use by another server. */
const youngMs = 15 * 60_000;

/** Forgets what is too many or too much, and lets git drop what nothing needs. Throws GitFailure. */
export async function tidyShadow({ folder }: Shadow, ask: AskGit, index: string | undefined): Promise<void> {
  const unused = newestFirst(folder).filter(({ name }) => name.startsWith('index.') && name !== index);
  for (const { path, age } of unused) if (age > youngMs) discard(path);
  const states = newestFirst(join(folder, 'refs', 'checkpoints'));
  const sizes = (await ask(['count-objects', '-v'])).matchAll(/^size(?:-pack)?: (\d+)$/gm);
  const isMuch = [...sizes].reduce((sum, [, size]) => sum + Number(size), 0) > quotaKilobytes;
  const most = isMuch ? Math.ceil(Math.min(states.length, mostStates) / 2) : mostStates;
  if (states.length <= most) return;
  for (const { path } of states.slice(most)) discard(path);
  await ask(['gc', '--quiet', '--prune=10.minutes.ago'], { workTree: folder });
}

const newestFirst = (folder: string) =>
  readdirSync(folder)
    .map((name) => ({ name, path: join(folder, name) }))
    .map((file) => ({ ...file, age: Date.now() - lstatSync(file.path).mtimeMs }))
    .toSorted((a, b) => a.age - b.age);

/** The git of this machine. */
export interface Git {
  /** Absolute path: one by its name could be found in the project. */
  readonly program: string;
  /** Arguments before all others, where git is started by way of another program. */
  readonly leading: readonly string[];
  /** Where programs are found, without the project's folders, and what a child needs on Windows. */
  readonly env: Readonly<Record<string, string>>;
}

interface GitCall {
  /** The folder it takes for its work tree; left out: that of the shadow. */
  readonly workTree?: string;
  /** The index file, in the shadow's folder. */
  readonly index?: string | undefined;
  /** Given to it, each with a NUL behind it; git is not started for none. */
  readonly lines?: readonly string[];
}

/** Git could not be started, was ended, or ended with another code than 0; `message` is what it said of that. */
export class GitFailure extends Error {
  readonly exitCode: number | null;
  constructor(message: string, exitCode: number | null = null) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** Runs git in a shadow and returns what it printed. Throws GitFailure. */
export type AskGit = (argv: readonly string[], call?: GitCall) => Promise<string>;

/** Names of a million files take about this much. */
const mostOutput = 128 * 1024 * 1024;
/**
 * What looking through a large tree takes, and for each file it reads. A FIFO in the place of a .gitignore keeps git
 * waiting for all of it, and every command behind it goes without undo.
 */
const timeoutMs = 60_000;
const timeoutPerLineMs = 5;

/** Everything git gets: no configuration but the shadow's, no attributes of the machine, no questions. */
export const askGit = (run: Run, git: Git, { folder, top }: Shadow): AskGit => {
  const inherited = /^(?:PATH|SystemRoot|SystemDrive|WINDIR|TEMP|TMP|TMPDIR)$/;
  const env = {
    ...Object.fromEntries(Object.entries(git.env).filter(([name]) => inherited.test(name))),
    // Where it would look for what the user configures.
    HOME: folder,
    XDG_CONFIG_HOME: folder,
    LC_ALL: 'C',
    GIT_DIR: folder,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_ATTR_NOSYSTEM: '1',
    GIT_NO_REPLACE_OBJECTS: '1',
    GIT_TERMINAL_PROMPT: '0',
  };
  return async (argv, { workTree = top, index = 'index.none', lines } = {}) => {
    if (lines?.length === 0) return '';
    const { exitCode, stdout, stderr, ended } = await run({
      program: git.program,
      argv: [...git.leading, ...argv],
      cwd: workTree,
      env: { ...env, GIT_WORK_TREE: workTree, GIT_INDEX_FILE: resolve(folder, index) },
      keepBytes: mostOutput,
      timeoutMs: timeoutMs + timeoutPerLineMs * (lines?.length ?? 0),
      ...(lines && {
        takeInput(stdin) {
          stdin.write(lines.map((line) => `${line}\0`).join(''));
          stdin.end();
        },
      }),
    });
    if (stdout.omittedBytes > 0) throw new GitFailure('git printed too much');
    if (exitCode === 0) return stdout.bytes.toString();
    // What it died of.
    const said = /^fatal: .*/m.exec(stderr.text)?.[0] ?? stderr.text.trim().split('\n')[0];
    throw new GitFailure((said || `git has ${ended.replace('_', ' ')}`).slice(0, 300), exitCode);
  };
};
