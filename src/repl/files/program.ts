import { constants } from 'node:os';
import { ChatError } from '../errors.ts';

/** As much as is kept of each output stream: a hook or a key command that writes more is not what it seems to be. */
const mostBytes = 1024 * 1024;
/** How long a program may take to end by itself after SIGTERM. */
const graceMs = 500;
/** How long the pipes of an ended program are listened to when something it started still holds them. */
const lingerMs = 250;

export interface ProgramOptions {
  /** Written to its standard input, which is closed then. */
  readonly input?: string;
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
}

export interface ProgramResult {
  /** Null when a signal ended it, ours or another's. */
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly ended: 'exited' | 'timed_out' | 'aborted';
}

/**
 * Runs a program without a shell and returns what it wrote, at most 1 MB a stream. At the time limit or when the signal
 * says so, its whole process group is ended. Throws PROGRAM_FAILED when it cannot be started.
 */
export async function runProgram(argv: readonly string[], options: ProgramOptions): Promise<ProgramResult> {
  const { spawn } = await import('node:child_process');
  const { file, args } = startable(argv);
  const { input = '', timeoutMs, signal, ...place } = options;
  if (signal?.aborted) return { exitCode: null, stdout: '', stderr: '', ended: 'aborted' };
  return new Promise((resolve, reject) => {
    // In a group of its own, so that all of it can be ended.
    const detached = process.platform !== 'win32';
    const child = attempt(argv, () =>
      spawn(file, args, { ...place, detached, windowsHide: true, stdio: 'pipe' }),
    );
    const done = new AbortController();
    let ended: ProgramResult['ended'] = 'exited';
    const end = (how: 'timed_out' | 'aborted') => {
      if (ended !== 'exited' || child.pid === undefined) return;
      ended = how;
      endGroup(child.pid, 'SIGTERM');
      after(graceMs, () => endGroup(child.pid, 'SIGKILL'));
    };
    const after = (ms: number, work: () => void) => {
      const timer = setTimeout(work, ms);
      done.signal.addEventListener('abort', () => clearTimeout(timer));
      return timer;
    };
    after(timeoutMs, () => end('timed_out'));
    signal?.addEventListener('abort', () => end('aborted'), { signal: done.signal });

    let linger: NodeJS.Timeout | undefined;
    const stdout = keepHead(child.stdout, () => linger?.refresh());
    const stderr = keepHead(child.stderr, () => linger?.refresh());
    // A program need not read what it is given.
    child.stdin.on('error', () => undefined).end(input);
    child.once('error', (error) => {
      done.abort();
      reject(cannotStart(argv, error, options.cwd));
    });
    child.once('exit', () => {
      linger = after(lingerMs, () => {
        child.stdout.destroy();
        child.stderr.destroy();
      });
    });
    child.once('close', (exitCode) => {
      done.abort();
      // What ignored SIGTERM and let go of the pipes is not left behind.
      if (ended !== 'exited') endGroup(child.pid, 'SIGKILL');
      resolve({ exitCode, stdout: stdout(), stderr: stderr(), ended });
    });
  });
}

/**
 * Hands the terminal to a program, such as an editor, until it ends; its exit code, or 128 and the signal's number.
 * Whoever calls leaves raw mode first. Throws PROGRAM_FAILED when it cannot be started.
 */
export async function runInTerminal(argv: readonly string[]): Promise<number> {
  const { spawn } = await import('node:child_process');
  const { file, args } = startable(argv);
  // Ctrl-C at the program is sent to us as well: it is the program's to answer.
  const ignore = () => undefined;
  process.on('SIGINT', ignore);
  try {
    return await new Promise((resolve, reject) => {
      const spawned = attempt(argv, () => spawn(file, args, { stdio: 'inherit' }));
      spawned.once('error', (error) => reject(cannotStart(argv, error)));
      spawned.once('exit', (code, signal) => resolve(code ?? 128 + (signal ? constants.signals[signal] : 0)));
    });
  } finally {
    process.off('SIGINT', ignore);
  }
}

/** Why a program cannot be run without a shell on a platform; undefined when it can. */
export function whyNotStartable(argv: readonly string[], platform: NodeJS.Platform): string | undefined {
  const file = argv[0];
  if (!file) return 'No program was named.';
  // cmd.exe, which runs batch files, reads arguments as commands: there is no safe way to quote them.
  if (platform === 'win32' && /\.(?:cmd|bat)[. ]*$/i.test(file)) {
    return `${file} is a batch file, which only a shell could run. Name the program that it starts.`;
  }
  return undefined;
}

function startable(argv: readonly string[]): { file: string; args: string[] } {
  const [file, ...args] = argv;
  const why = whyNotStartable(argv, process.platform);
  if (why !== undefined || file === undefined) throw new ChatError('PROGRAM_FAILED', why ?? '');
  return { file, args };
}

/** Some failures are thrown at once, such as that of a zero byte in an argument. */
function attempt<T>(argv: readonly string[], start: () => T): T {
  try {
    return start();
  } catch (error) {
    throw cannotStart(argv, error);
  }
}

function cannotStart(argv: readonly string[], error: unknown, cwd?: string): ChatError {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  const why =
    code === 'ENOENT' ? `not found${cwd === undefined ? '' : `, or no folder ${cwd}`}` : String(error);
  return new ChatError('PROGRAM_FAILED', `${argv[0]} cannot be started: ${why}.`, { cause: error });
}

/** Keeps the beginning of a stream and reads on, so that the program never waits. */
function keepHead(stream: NodeJS.ReadableStream, onData: () => void): () => string {
  const chunks: Buffer[] = [];
  let bytes = 0;
  stream.on('data', (chunk: Buffer) => {
    onData();
    if (bytes < mostBytes) chunks.push(chunk.subarray(0, mostBytes - bytes));
    bytes += chunk.length;
  });
  return () => Buffer.concat(chunks).toString('utf8');
}

function endGroup(pid: number | undefined, signal: 'SIGTERM' | 'SIGKILL'): void {
  if (pid === undefined) return;
  if (process.platform === 'win32') return void taskkill(pid);
  try {
    process.kill(-pid, signal);
  } catch {
    // ESRCH: all of it has already ended, which is what was wanted.
  }
}

async function taskkill(pid: number): Promise<void> {
  const { execFile } = await import('node:child_process');
  const root = process.env['SystemRoot'] ?? 'C:\\Windows';
  const options = { windowsHide: true, timeout: 2000 };
  execFile(`${root}\\System32\\taskkill.exe`, ['/PID', String(pid), '/T', '/F'], options, () => undefined);
}
