import { resolve } from 'node:path';
import type { Run } from '../processes/process.ts';
import { projectFolders } from '../programs/project-folders.ts';

/** The git of this machine. */
export interface Git {
  /** Absolute path: one by its name could be found in the project. */
  readonly program: string;
  /** Arguments before all others, where git is started by way of another program. */
  readonly leading: readonly string[];
  /** Where programs are found, and what a child needs on Windows. */
  readonly env: Readonly<Record<string, string>>;
}

export interface GitSource {
  readonly run: Run;
  /** The git of this machine; undefined when there is none. */
  git(): Promise<Git | undefined>;
}

interface GitCall {
  /** The folder it takes for its work tree; left out: that of the shadow. */
  readonly workTree?: string;
  /** The index file, in the shadow's folder. */
  readonly index?: string | undefined;
  /** Given to it, each with a NUL behind it; git is not started for none. */
  readonly lines?: readonly string[];
}

/** Git ended with another code than 0; `message` is what it said of that. */
export class GitFailure extends Error {}

/** Runs git in a shadow and returns what it printed. Throws GitFailure, and Error where it cannot be run. */
export type AskGit = (argv: readonly string[], call?: GitCall) => Promise<string>;

/** Names of a million files take about this much. */
const mostOutput = 128 * 1024 * 1024;
/**
 * What looking through a large tree takes, and for each file it reads. A FIFO in the place of a .gitignore keeps git
 * waiting for all of it, and every command behind it goes without undo.
 */
const timeoutMs = 60_000;
const timeoutPerLineMs = 5;

const inherited = /^(?:SystemRoot|SystemDrive|WINDIR|TEMP|TMP|TMPDIR)$/;

/**
 * Everything git gets: no configuration but ours, no attributes of the machine, no questions, and nothing of the
 * project on its way.
 */
export const askGit =
  (source: GitSource, { folder, top }: { folder: string; top: string }, roots: readonly string[]): AskGit =>
  async (argv, { workTree = top, index = 'index.none', lines } = {}) => {
    if (lines?.length === 0) return '';
    const git = await source.git();
    if (!git) throw new Error('no git of this machine was found that can be used');
    const project = projectFolders(roots);
    if (project.holds(git.program)) throw new Error('git lies in the project');
    const { exitCode, stdout, stderr, ended } = await source.run({
      program: git.program,
      argv: [...git.leading, ...settings(), ...argv],
      cwd: workTree,
      env: {
        ...Object.fromEntries(Object.entries(git.env).filter(([name]) => inherited.test(name))),
        PATH: project.pathWithout(git.env['PATH'] ?? ''),
        // Where it would look for what the user configures.
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
      },
      keepBytes: mostOutput,
      timeoutMs: timeoutMs + timeoutPerLineMs * (lines?.length ?? 0),
      ...(lines && {
        takeInput(stdin) {
          stdin.write(lines.map((line) => `${line}\0`).join(''));
          stdin.end();
        },
      }),
    });
    if (stdout.omittedBytes > 0) throw new Error('git printed too much');
    if (exitCode === 0) return stdout.bytes.toString();
    // What it died of.
    const said = /^fatal: .*/m.exec(stderr.text)?.[0] ?? stderr.text.trim().split('\n')[0];
    const message = (said || `git has ${ended.replace('_', ' ')}`).slice(0, 300);
    throw exitCode === null ? new Error(message) : new GitFailure(message);
  };

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
    // A checkpoint that a power failure breaks is made anew; waiting for the disk would take most of the time there is.
    fsync: 'none',
  };
  // A state that is forgotten is a file that is removed.
  const pairs = [
    ...Object.entries(values).map(([name, value]) => `core.${name}=${value}`),
    'gc.packRefs=false',
  ];
  return pairs.flatMap((pair) => ['-c', pair]);
}
