import type { ChildProcess, SpawnOptions } from 'node:child_process';
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
  const { input = '', timeoutMs, signal, cwd } = options;
  const timeout = AbortSignal.timeout(timeoutMs);
  const over = AbortSignal.any(signal ? [signal, timeout] : [timeout]);
  const ended = () => (signal?.aborted ? 'aborted' : timeout.aborted ? 'timed_out' : 'exited');
  if (over.aborted) return { exitCode: null, stdout: '', stderr: '', ended: ended() };
  // In a group of its own, so that all of it can be ended.
  const detached = process.platform !== 'win32';
  const child = await started(argv, { cwd, detached, windowsHide: true, stdio: 'pipe' });
  const output = [keptHead(child.stdout), keptHead(child.stderr)] as const;
  const timers: NodeJS.Timeout[] = [];
  const end = () => {
    endGroup(child.pid, 'SIGTERM');
    timers.push(setTimeout(() => endGroup(child.pid, 'SIGKILL'), graceMs));
  };
  if (over.aborted) end();
  else over.addEventListener('abort', end);
  // A program need not read what it is given.
  child.stdin?.on('error', () => undefined).end(input);
  const letGo = () => [child.stdout, child.stderr].forEach((stream) => stream?.destroy());
  child.once('exit', () => timers.push(setTimeout(letGo, lingerMs)));
  const exitCode = await new Promise<number | null>((resolve) => child.once('close', resolve));
  over.removeEventListener('abort', end);
  timers.forEach(clearTimeout);
  // What ignored SIGTERM and let go of the pipes is not left behind.
  if (ended() !== 'exited') endGroup(child.pid, 'SIGKILL');
  return { exitCode, stdout: output[0](), stderr: output[1](), ended: ended() };
}

/**
 * Hands the terminal to a program, such as an editor, until it ends; its exit code, or 128 and the signal's number.
 * Whoever calls leaves raw mode first. Throws PROGRAM_FAILED when it cannot be started.
 */
export async function runInTerminal(argv: readonly string[]): Promise<number> {
  const child = await started(argv, { stdio: 'inherit' });
  return new Promise((resolve) =>
    child.once('exit', (code, signal) => resolve(code ?? 128 + (signal ? constants.signals[signal] : 0))),
  );
}

async function started(argv: readonly string[], options: SpawnOptions): Promise<ChildProcess> {
  const { spawn } = await import('node:child_process');
  const [file = '', ...args] = argv;
  // cmd.exe, which runs batch files, reads arguments as commands: there is no safe way to quote them.
  if (process.platform === 'win32' && /\.(?:cmd|bat)[. ]*$/i.test(file))
    throw failed(`${file} is a batch file, which only a shell could run. Name the program that it starts.`);
  try {
    const child = spawn(file, args, options);
    await new Promise((resolve, reject) => child.once('spawn', resolve).once('error', reject));
    // It can fail later, too.
    child.on('error', () => undefined);
    return child;
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    const why = isMissing ? 'it, or the folder it runs in, was not found' : String(error);
    throw failed(`${file} cannot be started: ${why}.`, error);
  }
}

const failed = (message: string, cause?: unknown): ChatError =>
  new ChatError('PROGRAM_FAILED', message, { cause });

/** Keeps the beginning of a stream and reads on, so that the program never waits. */
function keptHead(stream: NodeJS.ReadableStream | null): () => string {
  const chunks: Buffer[] = [];
  let bytes = 0;
  stream?.on('data', (chunk: Buffer) => {
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
