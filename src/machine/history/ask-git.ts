import { resolve } from 'node:path';
import type { Run } from '../processes/process.ts';

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
export const askGit = (run: Run, git: Git, { folder, top }: { folder: string; top: string }): AskGit => {
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
