import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The git of this machine. */
export interface Git {
  /** Absolute path: one by its name could be found in the project. */
  readonly program: string;
  /** An argument before all others, where git is started by way of another program. */
  readonly leading: readonly string[];
  /** Where programs are found, without the project's folders, and what a child needs on Windows. */
  readonly env: Readonly<Record<string, string>>;
}

export interface GitCall {
  readonly args: readonly string[];
  /** The folder it works in, and takes for its work tree. */
  readonly workTree: string;
  /** The name of the index file to use, in the repository's folder. */
  readonly index?: string;
  readonly input?: Buffer;
  /** Ends it: git cleans up its lock, then. */
  readonly signal: AbortSignal;
}

/** Git ended with another code than 0; `message` is what it said of that. */
export class GitFailure extends Error {
  override readonly name = 'GitFailure';
}

/** Names of a million files take about this much. */
const mostOutput = 64 * 1024 * 1024;

/**
 * Runs git in a repository of ours, on a work tree of somebody else, and returns what it printed. The only file that
 * uses simple-git, which starts programs by itself. Throws GitFailure, and an Error when it was ended.
 */
export async function runGit(repository: string, git: Git, call: GitCall): Promise<Buffer> {
  const { simpleGit } = await import('simple-git');
  const ended = new AbortController();
  const end = () => ended.abort();
  if (call.signal.aborted) end();
  call.signal.addEventListener('abort', end, { once: true });
  const printed: Buffer[] = [];
  let size = 0;
  let failure: GitFailure | undefined;
  const [first] = git.leading;
  const env = environment(repository, git, call);
  try {
    await simpleGit({
      baseDir: call.workTree,
      binary: first === undefined ? [git.program] : [git.program, first],
      abort: ended.signal,
      // Without an end of its input, a program that reads it would wait for ever.
      input: () => call.input ?? Buffer.alloc(0),
      // Otherwise a failure that says nothing counts as success, and the one there is gets wrapped.
      errors(error, { exitCode, stdErr }) {
        if (exitCode !== 0) failure = new GitFailure(complaintIn(Buffer.concat(stdErr).toString()));
        return failure ?? error;
      },
      completion: { onExit: false },
      // Whatever is not named here is taken out of the environment; the two it calls unsafe only shut files out.
      allowEnvironment: Object.keys(env),
      // A path such as `C:\Program Files\Git\cmd\git.exe` has a blank, which it takes for unsafe.
      unsafe: { allowUnsafeConfigPaths: true, allowUnsafeCustomBinary: true },
    })
      .env(env)
      // What it returns has been decoded as UTF-8, which names of files need not be.
      .outputHandler((_command, stdout) => {
        stdout.on('data', (chunk: Buffer) => {
          printed.push(chunk);
          size += chunk.length;
          if (size > mostOutput) end();
        });
      })
      .raw([...call.args]);
  } catch (error) {
    throw ended.signal.aborted ? new Error('git was ended') : (failure ?? error);
  } finally {
    call.signal.removeEventListener('abort', end);
  }
  return Buffer.concat(printed);
}

/** Everything git gets: no configuration but the repository's, no attributes of the machine, no questions. */
function environment(repository: string, { env }: Git, { workTree, index }: GitCall): Record<string, string> {
  const nothing = process.platform === 'win32' ? 'NUL' : '/dev/null';
  const inherited = ['PATH', 'SystemRoot', 'SystemDrive', 'WINDIR', 'TEMP', 'TMP', 'TMPDIR'];
  return {
    ...Object.fromEntries(Object.entries(env).filter(([name]) => inherited.includes(name))),
    // Where git before 2.32, which does not know GIT_CONFIG_GLOBAL, would look.
    HOME: repository,
    XDG_CONFIG_HOME: repository,
    LC_ALL: 'C',
    GIT_DIR: repository,
    GIT_WORK_TREE: workTree,
    ...(index === undefined ? {} : { GIT_INDEX_FILE: join(repository, index) }),
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: nothing,
    GIT_CONFIG_SYSTEM: nothing,
    GIT_ATTR_NOSYSTEM: '1',
    GIT_NO_REPLACE_OBJECTS: '1',
    GIT_LITERAL_PATHSPECS: '1',
    GIT_TERMINAL_PROMPT: '0',
    // One line on standard error: simple-git waits another 50 ms for a program that has said nothing.
    GIT_TRACE: '1',
  };
}

/** What it died of; without the lines that GIT_TRACE adds, which begin with the time. */
function complaintIn(text: string): string {
  const lines = text.split('\n').filter((line) => line.trim() !== '' && !/^\d\d:\d\d:\d\d\.\d/.test(line));
  const last = lines.findLast((line) => line.startsWith('fatal: ')) ?? lines[0];
  return (last ?? 'git failed').slice(0, 300);
}

/**
 * Makes an empty repository without git, so that no template adds hooks. Bytes go in and come out as they are, whatever
 * the project's attributes say. Throws what the system says.
 */
export async function makeRepository(folder: string): Promise<void> {
  for (const name of ['objects/pack', 'refs/checkpoints', 'info', 'checkpoints']) {
    await mkdir(join(folder, name), { recursive: true, mode: 0o700 });
  }
  const files = {
    HEAD: 'ref: refs/heads/none\n',
    config: configuration(),
    // Takes precedence over every .gitattributes (gitattributes(5)).
    'info/attributes':
      '* -text -eol -crlf -ident -filter -working-tree-encoding -diff -merge -export-subst\n',
    'info/exclude': '',
  };
  for (const [name, content] of Object.entries(files)) {
    // Another server may be making the same one at the same time.
    const temporary = join(folder, `${name}.${globalThis.crypto.randomUUID()}`);
    await writeFile(temporary, content, { flag: 'wx', mode: 0o600 });
    await rename(temporary, join(folder, name));
  }
}

function configuration(): string {
  const windows = process.platform === 'win32';
  const apple = process.platform === 'darwin';
  const core = {
    repositoryFormatVersion: 0,
    bare: true,
    hooksPath: '/dev/null',
    attributesFile: '/dev/null',
    excludesFile: '/dev/null',
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
