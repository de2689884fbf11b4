import type { ChildProcess, ChildProcessByStdio } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import type { Platform } from '../../core/discoverer.ts';
import { ToolcribError } from '../../core/errors.ts';
import { endFamily, linuxFamily, listedFamily } from './process-tree.ts';

/** Every child carries this variable; what it starts inherits it, wherever it moves in the process tree. */
export const runMarker = 'TOOLCRIB_RUN';
/** The server has one second in all to leave. */
const endMs = 900;

export type Child = ChildProcessByStdio<Writable | null, Readable, Readable> & { readonly pid: number };

interface Start {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Its input is a pipe; otherwise it is empty. */
  readonly hasInput?: boolean;
}

/** Starts it, or tells what kept it from starting. Without a mark, nobody listens to it, or ends it. */
export function start(
  { file, args, verbatim }: Started,
  { cwd, env, hasInput = false }: Start,
  mark?: string,
): Child | Error | Promise<Error> {
  // Not at the beginning of the file: the server starts without it.
  const { spawn } = process.getBuiltinModule('node:child_process');
  let child: ChildProcess;
  try {
    child = spawn(file, args, {
      cwd,
      env: mark === undefined ? env : { ...env, [runMarker]: mark },
      // A session of its own: it can be ended whole and has no terminal to ask at. On Windows it would open a window.
      detached: process.platform !== 'win32',
      stdio: mark === undefined ? 'ignore' : [hasInput ? 'pipe' : 'ignore', 'pipe', 'pipe'],
      windowsHide: true,
      windowsVerbatimArguments: verbatim,
    });
  } catch (error) {
    return error as Error;
  }
  // Why there is no process is told in the next turn; with too many open files there are no streams either.
  if (child.pid === undefined) return new Promise((resolve) => child.once('error', resolve));
  // Without a listener Node would throw it.
  child.on('error', () => undefined);
  return child as Child;
}

/** Why a program could not be started, with a way out where that is not the program. */
export function reasonOf({ message, code }: NodeJS.ErrnoException): string {
  if (code === 'EMFILE' || code === 'ENFILE')
    return `${message}: too many files are open. End other programs and jobs, or raise the limit (ulimit -n).`;
  if (code === 'EAGAIN' || code === 'ENOMEM')
    return `${message}: there are too many processes, or there is no memory. End other programs and jobs.`;
  return message;
}

/** Ends programs and everything they started, wherever it went. */
export function endTree(programs: readonly (readonly [mark: string, pid: number])[]): Promise<void> {
  const groups = programs.map(([, pid]) => pid);
  const marks = programs.map(([mark]) => `${runMarker}=${mark}`);
  const find = process.platform === 'linux' ? linuxFamily : listedFamily;
  return endFamily(find, { marks, groups }, { leastLooks: 1, mostMs: endMs });
}

/** Kills the group of a program that has ended: a child it left there must not outlive the call. */
export function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // ESRCH: nothing of it is left, as usual.
  }
}

export interface Started {
  file: string;
  args: readonly string[];
  /** Whether `args` is already quoted for Windows. */
  verbatim: boolean;
}

/**
 * What to hand to the operating system. Only a Windows batch file needs more than its own path: it is run by cmd.exe,
 * which reads its arguments a second time (CVE-2024-27980). Each argument is quoted for that, and one that cannot
 * be quoted safely is refused with ARG_INVALID.
 */
export function asStarted(program: string, argv: readonly string[], platform: Platform): Started {
  if (platform !== 'win32' || !/\.(?:cmd|bat)$/i.test(program))
    return { file: program, args: argv, verbatim: false };
  const line = [program, ...argv].map(quotedForCmd).join(' ');
  const root = process.env['SystemRoot'] ?? 'C:\\Windows';
  // /d: no AutoRun commands; /v:off: "!" is a character; /s with outer quotes: the line is taken as it is.
  return {
    file: `${root}\\System32\\cmd.exe`,
    args: ['/d', '/e:on', '/v:off', '/s', '/c', `"${line}"`],
    verbatim: true,
  };
}

function quotedForCmd(argument: string): string {
  const found = /[%!"\r\n\0]/.exec(argument);
  if (found) {
    throw new ToolcribError(
      'ARG_INVALID',
      `"${argument}": ${JSON.stringify(found[0])} cannot be passed safely to a Windows batch file.`,
      'Leave the character out.',
    );
  }
  // Backslashes before the closing quote would escape it for the program's own parser.
  return `"${argument.replace(/\\+$/, (slashes) => slashes + slashes)}"`;
}
