import { basename, delimiter, dirname, resolve } from 'node:path';
import type { Run } from '../processes/process.ts';
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
  readonly run: Run;
  /** The git of this machine; undefined when there is none. */
  git(): Promise<Git | undefined>;
}

interface GitCall {
  /** The folder it takes for its work tree; left out: that of the shadow repository. */
  readonly workTree?: string;
  /** The index file, in the folder of the shadow repository. */
  readonly index?: string | undefined;
  /** Lines of input, each with a NUL behind it; git is not started for none. */
  readonly lines?: readonly string[];
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
/**
 * Time to look through a large tree, and to read each file. A FIFO in the place of a .gitignore keeps git
 * waiting for all of it, and every command behind it goes without undo.
 */
const timeoutMs = 60_000;
const timeoutPerLineMs = 5;

const inherited = /^(?:SystemRoot|SystemDrive|WINDIR|TEMP|TMP|TMPDIR)$/;
/**
 * Programs that simple-git starts by their path. It refuses blanks and parentheses, as in "Program Files
 * (x86)".
 */
const plainPath = /^(?:[a-z]:)?[\w/.\\~-]+$/i;

/**
 * Speaks to a shadow repository: simple-git asks, and the process runner watches the git that it starts,
 * gives it its input, and ends it with all that it has started.
 */
export const askGit =
  (source: GitSource, { folder, top }: { folder: string; top: string }, roots: readonly string[]): AskGit =>
  async (argv, { workTree = top, index = 'index.none', lines } = {}) => {
    if (lines?.length === 0) return '';
    const git = await source.git();
    if (!git) throw new Error('no git of this machine was found that can be used');
    const project = projectFolders(roots);
    if (project.holds(git.program)) throw new Error('git lies in the project');
    const path = project.pathWithout(git.env['PATH'] ?? '');
    const command = [...git.leading, '-C', workTree, ...settings(), ...argv];
    let answer: Promise<string> | undefined;
    let bytes = 0;
    const { exitCode, ended, stderr } = await source.run({
      program: git.program,
      argv: command,
      cwd: folder,
      env: {
        ...environmentOf(git, path),
        // The folder where it would look for what the user configures.
        HOME: folder,
        XDG_CONFIG_HOME: folder,
        GIT_DIR: folder,
        GIT_WORK_TREE: workTree,
        GIT_INDEX_FILE: resolve(folder, index),
      },
      timeoutMs: timeoutMs + timeoutPerLineMs * (lines?.length ?? 0),
      ...(lines && { wholeInput: lines.map((line) => `${line}\0`).join('') }),
      startByPackage(env) {
        answer = answerOf(command, { program: git.program, folder, env });
        return answer;
      },
      onOutput(chunk) {
        bytes += chunk.length;
        return bytes <= mostOutput;
      },
    });
    if (bytes > mostOutput) throw new Error('git printed too much');
    if (ended !== 'exited') throw new Error(reasonIn(stderr.text) || `git has ${ended.replace('_', ' ')}`);
    // simple-git waits 50 ms longer for a program that has printed nothing.
    if (exitCode === 0 && bytes === 0) return '';
    try {
      return (await answer) ?? '';
    } catch (error) {
      const { message } = error as Error;
      throw exitCode === null ? new Error(message) : new GitFailure(message);
    }
  };

interface GitStart {
  readonly program: string;
  /** The folder it is started in. */
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
}

/** Has simple-git run one command, and returns what it printed. Rejects with the reason that git gives. */
async function answerOf(argv: readonly string[], { program, folder, env }: GitStart): Promise<string> {
  const { simpleGit } = await import('simple-git');
  const isPlain = plainPath.test(program);
  const path = isPlain ? env['PATH'] : [dirname(program), env['PATH']].join(delimiter);
  const git = simpleGit({
    // Windows looks for a program in the working folder first: in one of ours, no other git lies.
    baseDir: folder,
    binary: isPlain ? program : basename(program),
    // By default, what has not been read 50 ms after the end of the program is lost.
    completion: { onClose: true, onExit: false },
    // By default, a program that a signal has ended, or that complains about nothing, counts as a success.
    errors: (_error, { exitCode, stdErr }) =>
      exitCode === 0
        ? undefined
        : Buffer.from(reasonIn(Buffer.concat(stdErr).toString()) || 'git has failed'),
  });
  return git.env({ ...env, PATH: path }).raw([...argv]);
}

/** The reason that git died of, in what it complained about. */
function reasonIn(complaint: string): string {
  const reason = /^fatal: .*/m.exec(complaint)?.[0] ?? complaint.trim().split('\n')[0] ?? '';
  return reason.slice(0, 300);
}

/**
 * The environment of git but for its folders: no configuration but ours, no attributes of the machine, no
 * questions, and nothing of the project on its way.
 */
function environmentOf({ env }: Git, path: string): Record<string, string> {
  return {
    ...Object.fromEntries(Object.entries(env).filter(([name]) => inherited.test(name))),
    PATH: path,
    LC_ALL: 'C',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_ATTR_NOSYSTEM: '1',
    GIT_NO_REPLACE_OBJECTS: '1',
    GIT_TERMINAL_PROMPT: '0',
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
    // A checkpoint that a power failure breaks is made anew; waiting for the disk would take most of the
    // time.
    fsync: 'none',
  };
  // A checkpoint that is forgotten is a file that is removed.
  const pairs = [
    ...Object.entries(values).map(([name, value]) => `core.${name}=${value}`),
    'gc.packRefs=false',
  ];
  return pairs.flatMap((pair) => ['-c', pair]);
}
