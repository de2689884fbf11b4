import { basename, delimiter, dirname, resolve } from 'node:path';
import type { SimpleGitOptions } from 'simple-git';
import type { Processes } from '../processes/process.ts';
import { projectFolders } from '../programs/project-folders.ts';

/** The git of this machine. */
export interface Git {
  /** Absolute path: one by its name could be found in the project. */
  readonly program: string;
  /** Arguments before all others, where git is started by way of another program. */
  readonly leading: readonly string[];
  /** The search path, and the variables that a child needs on Windows. */
  readonly env: Readonly<Record<string, string>>;
}

export interface GitSource {
  readonly watch: Processes['watch'];
  /** The git of this machine; undefined when there is none. */
  git(): Promise<Git | undefined>;
}

interface GitCall {
  /** The folder it takes for its work tree; left out: that of the shadow. */
  readonly workTree?: string;
  /** The index file, in the shadow's folder. */
  readonly index?: string | undefined;
  /**
   * Arguments behind the others, in groups that stay together: git is started as often as their length takes,
   * and not at all for none.
   */
  readonly groups?: readonly (readonly string[])[];
}

/** Git ended with another code than 0; `message` is its own. */
export class GitFailure extends Error {}

/**
 * Runs git in a shadow repository and returns what it printed. Throws GitFailure, and Error where it cannot
 * be run.
 */
export type AskGit = (argv: readonly string[], call?: GitCall) => Promise<string>;

/** Names of a million files take about this much. */
const mostOutput = 128 * 1024 * 1024;
/** Characters of one command line: Windows takes 32,767, macOS 1 MB with all variables. */
const mostCharacters = process.platform === 'win32' ? 24 * 1024 : 96 * 1024;
/**
 * Time to look through a large tree, and to read each file. A FIFO in the place of a .gitignore keeps git
 * waiting for all of it, and every command behind it goes without undo.
 */
const timeoutMs = 60_000;
const timeoutPerGroupMs = 5;

const inherited = /^(?:SystemRoot|SystemDrive|WINDIR|TEMP|TMP|TMPDIR)$/;
/**
 * Names that simple-git starts as they are; others are found by the search path, on which their folder is
 * first.
 */
const plainName = /^(?:[a-z]:)?[\w/.\\~-]+$/i;

/** Speaks to a shadow repository, by the simple-git package. */
export const askGit =
  (source: GitSource, shadow: { folder: string; top: string }, roots: readonly string[]): AskGit =>
  async (argv, { workTree = shadow.top, index = 'index.none', groups } = {}) => {
    const runs = groups === undefined ? [[]] : inLines(groups);
    const printed: string[] = [];
    for (const more of runs) {
      const line = ['-C', workTree, ...settings(), ...argv, ...more];
      const run = { workTree, index, ...shadow, roots, more: more.length };
      printed.push(await source.watch((variables) => runGit(source, line, { ...run, variables })));
    }
    return printed.join('');
  };

interface GitRun {
  readonly folder: string;
  readonly workTree: string;
  readonly index: string;
  readonly roots: readonly string[];
  /** Variables by which the program is watched. */
  readonly variables: Readonly<Record<string, string>>;
  /** The number of arguments that name files. */
  readonly more: number;
}

async function runGit(source: GitSource, argv: readonly string[], run: GitRun): Promise<string> {
  const { folder, roots, more } = run;
  const git = await source.git();
  if (!git) throw new Error('no git of this machine was found that can be used');
  const project = projectFolders(roots);
  if (project.holds(git.program)) throw new Error('git lies in the project');
  const { simpleGit } = await import('simple-git');
  const stop = new AbortController();
  const late = AbortSignal.timeout(timeoutMs + timeoutPerGroupMs * more);
  // The package wraps it in an error of its own.
  let failure: Error | undefined;
  const program = plainName.test(git.program) ? git.program : basename(git.program);
  const options: Partial<SimpleGitOptions> = {
    // A folder of ours, in which no other git lies: `-C` leads to the work tree.
    baseDir: folder,
    binary: git.leading[0] === undefined ? program : [program, git.leading[0]],
    // By default, output that is not read 50 ms after the program has ended is lost.
    completion: { onClose: true, onExit: false },
    abort: AbortSignal.any([late, stop.signal]),
    errors(_error, result) {
      failure = failureOf(result, late.aborted);
      return failure;
    },
  };
  let bytes = 0;
  const path = [dirname(git.program), project.pathWithout(git.env['PATH'] ?? '')].join(delimiter);
  const asked = simpleGit(options)
    .env(environmentOf(git, path, run))
    .outputHandler((_command, stdout) => {
      stdout.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes > mostOutput) stop.abort();
      });
    });
  try {
    return await asked.raw([...argv]);
  } catch (error) {
    if (stop.signal.aborted) throw new Error('git printed too much', { cause: error });
    if (late.aborted) throw new Error('git has timed out', { cause: error });
    throw failure ?? error;
  }
}

/** Groups of arguments as lines that are short enough. */
function inLines(groups: readonly (readonly string[])[]): string[][] {
  const lines: string[][] = [];
  let room = 0;
  for (const group of groups) {
    const length = group.join(' ').length + 1;
    if (length > room) {
      lines.push([]);
      room = mostCharacters;
    }
    lines.at(-1)?.push(...group);
    room -= length;
  }
  return lines;
}

/** The failure of git: a code of its own is a GitFailure, any other end an Error; undefined for success. */
function failureOf(
  { exitCode, stdErr }: { readonly exitCode: number | null; readonly stdErr: readonly Buffer[] },
  isLate: boolean,
): Error | undefined {
  if (exitCode === 0) return undefined;
  const complaint = Buffer.concat(stdErr).toString();
  // The reason that it died of.
  const reason = /^fatal: .*/m.exec(complaint)?.[0] ?? complaint.trim().split('\n')[0];
  const message = (reason || (isLate ? 'git has timed out' : 'git has failed')).slice(0, 300);
  const isItsOwn = exitCode !== null && exitCode > 0 && !isLate;
  return isItsOwn ? new GitFailure(message) : new Error(message);
}

/**
 * The whole environment of git: no configuration but ours, no attributes of the machine, no questions, and
 * nothing of the project on its way.
 */
function environmentOf(
  { env }: Git,
  path: string,
  { folder, workTree, index, variables }: GitRun,
): Record<string, string> {
  return {
    ...Object.fromEntries(Object.entries(env).filter(([name]) => inherited.test(name))),
    PATH: path,
    // The folder where it would look for what the user configures.
    HOME: folder,
    XDG_CONFIG_HOME: folder,
    LC_ALL: 'C',
    GIT_DIR: folder,
    GIT_WORK_TREE: workTree,
    GIT_INDEX_FILE: resolve(folder, index),
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_ATTR_NOSYSTEM: '1',
    GIT_NO_REPLACE_OBJECTS: '1',
    GIT_TERMINAL_PROMPT: '0',
    ...variables,
  };
}

/** All else is as git has it without a configuration. */
function settings(): string[] {
  const [windows, apple] = [process.platform === 'win32', process.platform === 'darwin'];
  const values = {
    fileMode: !windows,
    ignoreCase: windows || apple,
    precomposeUnicode: apple,
    // Names that only another system would mistake for .git are kept.
    protectNTFS: windows,
    protectHFS: apple,
    longPaths: true,
    compression: 0,
    // A checkpoint that a power failure breaks is made anew; waiting for the disk would take most of the time
    // there is.
    fsync: 'none',
  };
  // A state that is forgotten is a file that is removed.
  const pairs = [
    ...Object.entries(values).map(([name, value]) => `core.${name}=${value}`),
    'gc.packRefs=false',
  ];
  return pairs.flatMap((pair) => ['-c', pair]);
}
