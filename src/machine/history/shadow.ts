import { createHash } from 'node:crypto';
import { existsSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isPrivate, makePrivate, writePrivate } from '../folders.ts';
import type { Run } from '../processes/process.ts';
import type { WorkTree } from './work-tree.ts';

/** The git of this machine. */
export interface Git {
  /** Absolute path: one by its name could be found in the project. */
  readonly program: string;
  /** Arguments before all others, where git is started by way of another program. */
  readonly leading: readonly string[];
  /** Where programs are found, without the project's folders, and what a child needs on Windows. */
  readonly env: Readonly<Record<string, string>>;
}

/** The git folder of ours that keeps the states of one work tree. Several servers may use it at once. */
export interface Shadow extends WorkTree {
  readonly folder: string;
}

export interface GitCall {
  /** The folder it takes for its work tree; left out: that of the shadow. */
  readonly workTree?: string;
  /** The name of the index file, in the shadow's folder. */
  readonly index?: string;
  readonly input?: string;
  readonly timeoutMs?: number;
}

/** Git could not be started, was ended, or ended with another code than 0; `message` is what it said of that. */
export class GitFailure extends Error {
  readonly exitCode: number | null;
  constructor(message: string, exitCode: number | null) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** Runs git in a shadow and returns what it printed. Throws GitFailure. */
export type AskGit = (shadow: Shadow, argv: readonly string[], call?: GitCall) => Promise<Buffer>;

/** Names of a million files take about this much. */
const mostOutput = 128 * 1024 * 1024;
/** What it takes of git to look through all of a large tree. */
const usualMs = 10 * 60_000;

export const askGit =
  (run: Run, git: Git): AskGit =>
  async (shadow, argv, { workTree, index, input, timeoutMs = usualMs } = {}) => {
    let isGiven = input === undefined;
    const { exitCode, stdout, stderr, ended } = await run({
      program: git.program,
      argv: [...git.leading, ...argv],
      cwd: workTree ?? shadow.top,
      env: environment(shadow.folder, git, workTree ?? shadow.top, index),
      keepBytes: mostOutput,
      timeoutMs,
      ...(input !== undefined && {
        takeInput: (stdin) => {
          isGiven = stdin.write(input);
          stdin.end();
        },
      }),
    });
    if (exitCode === 0 && isGiven && stdout.omittedBytes === 0) return stdout.bytes;
    throw new GitFailure(
      exitCode === 0 ? 'git was given too much' : complaintIn(stderr.text, ended),
      exitCode,
    );
  };

/** What it died of. */
function complaintIn(text: string, ended: string): string {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const last = lines.findLast((line) => line.startsWith('fatal: ')) ?? lines[0];
  return (last ?? (ended === 'exited' ? 'git failed' : `git has ${ended.replace('_', ' ')}`)).slice(0, 300);
}

/** Everything git gets: no configuration but the shadow's, no attributes of the machine, no questions. */
function environment(
  folder: string,
  { env }: Git,
  workTree: string,
  index = 'index.none',
): Record<string, string> {
  const nothing = process.platform === 'win32' ? 'NUL' : '/dev/null';
  const inherited = ['PATH', 'SystemRoot', 'SystemDrive', 'WINDIR', 'TEMP', 'TMP', 'TMPDIR'];
  return {
    ...Object.fromEntries(Object.entries(env).filter(([name]) => inherited.includes(name))),
    // Where git before 2.32, which does not know GIT_CONFIG_GLOBAL, would look.
    HOME: folder,
    XDG_CONFIG_HOME: folder,
    LC_ALL: 'C',
    GIT_DIR: folder,
    GIT_WORK_TREE: workTree,
    GIT_INDEX_FILE: join(folder, index),
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: nothing,
    GIT_CONFIG_SYSTEM: nothing,
    GIT_ATTR_NOSYSTEM: '1',
    GIT_NO_REPLACE_OBJECTS: '1',
    GIT_TERMINAL_PROMPT: '0',
  };
}

/** Where a work tree's shadow is, whether or not it is there. */
export function shadowOf(tree: WorkTree, shadows: string): Shadow {
  // Another choice of roots sees another part of the same tree, which is another content.
  const key = JSON.stringify([tree.top, ...tree.scopes]);
  return { ...tree, folder: join(shadows, createHash('sha256').update(key).digest('hex').slice(0, 32)) };
}

/** Makes it without git, so that no template adds hooks. Throws for a folder that is not private. */
export function openShadow({ folder, top, scopes }: Shadow): void {
  if (isPrivate(folder) && existsSync(join(folder, 'about.json'))) return;
  for (const each of [dirname(dirname(folder)), dirname(folder), folder])
    if (!makePrivate(each)) throw new Error(`${each} is not a folder of this user alone`);
  for (const name of ['objects/pack', 'refs/checkpoints', 'info'])
    mkdirSync(join(folder, name), { recursive: true, mode: 0o700 });
  writePrivate(folder, 'HEAD', 'ref: refs/heads/none\n');
  writePrivate(folder, 'config', configuration());
  // Takes precedence over every .gitattributes (gitattributes(5)): bytes go in and come out as they are.
  const attributes = '* -text -eol -crlf -ident -filter -working-tree-encoding -diff -merge -export-subst\n';
  writePrivate(join(folder, 'info'), 'attributes', attributes);
  writePrivate(folder, 'about.json', JSON.stringify({ top, scopes }));
}

function configuration(): string {
  const windows = process.platform === 'win32';
  const apple = process.platform === 'darwin';
  const core = {
    repositoryFormatVersion: 0,
    bare: true,
    hooksPath: '/dev/null',
    attributesFile: '/dev/null',
    fsmonitor: false,
    untrackedCache: false,
    autocrlf: false,
    safecrlf: false,
    symlinks: true,
    fileMode: !windows,
    ignoreCase: windows || apple,
    precomposeUnicode: apple,
    // Names that only another system would mistake for .git are kept.
    protectNTFS: windows,
    protectHFS: apple,
    longPaths: true,
    compression: 0,
    // A checkpoint that a power failure breaks is made anew; waiting for the disk would take most of the time there is.
    fsync: 'none',
    preloadIndex: true,
    logAllRefUpdates: false,
  };
  const lines = Object.entries(core).map(([name, value]) => `\t${name} = ${String(value)}\n`);
  return `[core]\n${lines.join('')}[gc]\n\tauto = 0\n[pack]\n\twindow = 0\n\tthreads = 1\n`;
}
