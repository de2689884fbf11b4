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

export const askGit =
  (run: Run, { program, leading, env }: Git, { folder, top }: { folder: string; top: string }): AskGit =>
  async (argv, { workTree = top, index = 'index.none', lines } = {}) => {
    if (lines?.length === 0) return '';
    const { exitCode, stdout, stderr, ended } = await run({
      program,
      argv: [...leading, ...argv],
      cwd: workTree,
      env: { ...environment(folder, env), GIT_WORK_TREE: workTree, GIT_INDEX_FILE: resolve(folder, index) },
      keepBytes: mostOutput,
      timeoutMs: timeoutMs + timeoutPerLineMs * (lines?.length ?? 0),
      ...(lines && {
        takeInput(stdin) {
          stdin.write(lines.map((line) => `${line}\0`).join(''));
          stdin.end();
        },
      }),
    });
    if (exitCode !== 0) throw new GitFailure(complaintIn(stderr.text, ended), exitCode);
    if (stdout.omittedBytes > 0) throw new GitFailure('git printed too much');
    return stdout.bytes.toString();
  };

/** What it died of. */
function complaintIn(text: string, ended: string): string {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const last = lines.findLast((line) => line.startsWith('fatal: ')) ?? lines[0];
  return (last ?? (ended === 'exited' ? 'git failed' : `git has ${ended.replace('_', ' ')}`)).slice(0, 300);
}

/** Everything git gets: no configuration but the shadow's, no attributes of the machine, no questions. */
function environment(folder: string, env: Git['env']): Record<string, string> {
  const nothing = process.platform === 'win32' ? 'NUL' : '/dev/null';
  const inherited = ['PATH', 'SystemRoot', 'SystemDrive', 'WINDIR', 'TEMP', 'TMP', 'TMPDIR'];
  return {
    ...Object.fromEntries(Object.entries(env).filter(([name]) => inherited.includes(name))),
    // Where git before 2.32, which does not know GIT_CONFIG_GLOBAL, would look.
    HOME: folder,
    XDG_CONFIG_HOME: folder,
    LC_ALL: 'C',
    GIT_DIR: folder,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: nothing,
    GIT_CONFIG_SYSTEM: nothing,
    GIT_ATTR_NOSYSTEM: '1',
    GIT_NO_REPLACE_OBJECTS: '1',
    GIT_TERMINAL_PROMPT: '0',
  };
}
