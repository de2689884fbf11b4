import { AsyncLocalStorage } from 'node:async_hooks';
import type { ChildProcess } from 'node:child_process';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { existsSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import type { ExecaMethod, Options, ResultPromise } from 'execa';
import type { Platform } from '../../core/discoverer.ts';
import { ToolcribError } from '../../core/errors.ts';
import { endFamily, linuxFamily, listedFamily } from './process-tree.ts';

/** Every child carries this variable; its own children inherit it, wherever they move in the process tree. */
export const runMarker = 'TOOLCRIB_RUN';
/** The server has one second in all to leave. */
const endMs = 900;

/** A `ChildProcess` of Node whose output is read. */
interface Subprocess extends Omit<ChildProcess, 'stdin' | 'stdout' | 'stderr'> {
  readonly stdin: Writable | null;
  readonly stdout: Readable;
  readonly stderr: Readable;
}

/** A program that runs. */
export interface Child {
  readonly pid: number;
  readonly subprocess: Subprocess;
  /** Resolves when the program and its output have ended. */
  readonly closed: PromiseLike<unknown>;
}

export interface StartOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly stdin: 'ignore' | 'pipe';
  /** Both streams. */
  readonly output: 'ignore' | 'pipe';
}

/** Starts a program; an error says why it could not be. */
export async function startProgram(
  execa: ExecaMethod,
  { file, args, verbatim }: Started,
  { cwd, env, stdin, output }: StartOptions,
): Promise<Child | Error> {
  const program = process.platform === 'win32' ? programOnWindows(file) : file;
  if (program === undefined) return new Error(`spawn ${file} ENOENT`);
  const options: Options = {
    cwd,
    env,
    extendEnv: false,
    preferLocal: false,
    shell: false,
    stdin,
    stdout: output,
    stderr: output,
    buffer: false,
    reject: false,
    stripFinalNewline: false,
    // Otherwise NODE_DEBUG could make it print command lines, which may hold secrets.
    verbose: 'none',
    // A session of its own: it can be ended whole and has no terminal to ask at. On Windows it would open a
    // window.
    detached: process.platform !== 'win32',
    windowsHide: true,
    windowsVerbatimArguments: verbatim,
    // endTree ends all of a tree: what loses its parent first might no longer be found.
    cleanup: false,
    forceKillAfterDelay: false,
  };
  // With too many open files Node makes a child without streams, at which execa throws before it listens for
  // errors: the child's own error would then end this process.
  let created: ChildProcess | undefined;
  const listen = (message: unknown) => {
    created = (message as { process: ChildProcess }).process;
    created.on('error', () => undefined);
  };
  subscribe('child_process', listen);
  let subprocess: ResultPromise;
  try {
    subprocess = execa(program, args, options);
  } catch (error) {
    return created ? errorOf(created) : (error as Error);
  } finally {
    unsubscribe('child_process', listen);
  }
  const { pid } = subprocess;
  if (pid !== undefined) return { pid, subprocess: subprocess as Subprocess, closed: subprocess };
  const { cause } = await subprocess;
  return cause as Error;
}

/** Has another package start a program with this environment. The promise may settle when that has ended. */
export type PackageStart = (env: Readonly<Record<string, string>>) => Promise<unknown>;

/**
 * Starts a program by way of another package. That need not hand out the process: Node announces each one
 * that it makes, and the asynchronous context tells for whom.
 */
export async function startByPackage(
  start: PackageStart,
  { env, stdin }: Pick<StartOptions, 'env' | 'stdin'>,
): Promise<Child | Error> {
  const context = new AsyncLocalStorage<true>();
  let announce: (message: unknown) => void = () => {};
  const spawned = new Promise<ChildProcess>((resolve, reject) => {
    announce = (message) => {
      if (!context.getStore()) return;
      const { process: created } = message as { readonly process: ChildProcess };
      created.once('spawn', () => resolve(created));
      // Without a listener Node would end this process; see above. Later errors are about signals.
      created.on('error', reject);
    };
    subscribe('child_process', announce);
    const settled = context.run(true, start, env);
    settled.then(() => reject(new Error('no program was started')), reject);
  });
  try {
    const subprocess = await spawned;
    if (stdin === 'ignore') subprocess.stdin?.destroy();
    const closed = new Promise((resolve) => subprocess.once('close', resolve));
    return { pid: subprocess.pid ?? 0, subprocess: subprocess as Subprocess, closed };
  } catch (error) {
    return error as Error;
  } finally {
    unsubscribe('child_process', announce);
    context.disable();
  }
}

/** The reason that Node gives, in the next turn, for a child without a process. */
const errorOf = (child: ChildProcess): Promise<Error> =>
  new Promise((resolve) => child.once('error', resolve));

/**
 * The .com or .exe file that Windows starts for a path. Nothing else is given to execa: it would look in the
 * working folder for the program that a first line `#!` names, and have cmd.exe try endings. Both may find a
 * file that nobody has agreed to.
 */
const programOnWindows = (file: string): string | undefined =>
  [file, `${file}.com`, `${file}.exe`].find((path) => /\.(?:com|exe)$/i.test(path) && existsSync(path));

/** The reason why a program could not be started, with a way out where it is not the program's. */
export function reasonOf({ message, code }: NodeJS.ErrnoException): string {
  const endOthers = 'End other programs and jobs';
  if (code === 'EMFILE' || code === 'ENFILE')
    return `${message}: too many files are open. ${endOthers}, or raise the limit (ulimit -n).`;
  if (code === 'EAGAIN' || code === 'ENOMEM')
    return `${message}: there are too many processes, or there is no memory. ${endOthers}.`;
  return message;
}

/** Ends programs and everything they started, wherever it went. */
export function endTree(programs: readonly (readonly [mark: string, pid: number])[]): Promise<void> {
  const groups = programs.map(([, pid]) => pid);
  const marks = programs.map(([mark]) => `${runMarker}=${mark}`);
  const find = process.platform === 'linux' ? linuxFamily : listedFamily;
  return endFamily(find, { marks, groups }, { leastLooks: 1, mostMs: endMs });
}

/** A program and its arguments, in the form that the operating system is given. */
export interface Started {
  readonly file: string;
  readonly args: readonly string[];
  /** `args` is already quoted for Windows. */
  readonly verbatim: boolean;
}

/**
 * Resolves what to start. A Windows batch file is run by cmd.exe, which reads its arguments a second time
 * (CVE-2024-27980): each is quoted for that, and one that cannot be quoted safely is refused with
 * ARG_INVALID. execa is not left to do so: its `\"` ends the quotes in a batch file, and without the variable
 * ComSpec, which many hosts do not hand on, it starts a `cmd.exe` that lies in the working folder.
 */
export function asStarted(program: string, argv: readonly string[], platform: Platform): Started {
  if (platform !== 'win32' || !/\.(?:cmd|bat)$/i.test(program))
    return { file: program, args: argv, verbatim: false };
  const line = [program, ...argv].map(quoteForCmd).join(' ');
  const root = process.env['SystemRoot'] ?? 'C:\\Windows';
  // /d: no AutoRun commands; /v:off: "!" is a character; /s with outer quotes: the line is taken as it is.
  return {
    file: `${root}\\System32\\cmd.exe`,
    args: ['/d', '/e:on', '/v:off', '/s', '/c', `"${line}"`],
    verbatim: true,
  };
}

function quoteForCmd(argument: string): string {
  const unsafe = /[%!"\r\n\0]/.exec(argument);
  if (unsafe) {
    throw new ToolcribError(
      'ARG_INVALID',
      `"${argument}": ${JSON.stringify(unsafe[0])} cannot be passed safely to a Windows batch file.`,
      'Leave the character out.',
    );
  }
  // Backslashes before the closing quote would escape it for the program's own parser.
  return `"${argument.replace(/\\+$/, (slashes) => slashes + slashes)}"`;
}
