import type { ChildProcess, SpawnOptions } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { ChatError } from '../errors.ts';

/**
 * The bytes that are kept of each output stream: a hook or a key command that writes more is not what it
 * seems to be.
 */
const mostBytes = 1024 * 1024;
/** The time that the pipes of an ended program are listened to when something it started still holds them. */
const lingerMs = 250;

interface ProgramOptions {
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
 * Runs a program without a shell and returns what it wrote, at most 1 MB a stream. At the time limit or when
 * the signal says so, its whole process group is ended. Throws PROGRAM_FAILED when it cannot be started.
 */
export async function runProgram(argv: readonly string[], options: ProgramOptions): Promise<ProgramResult> {
  const { input = '', timeoutMs, signal, cwd } = options;
  const timeout = AbortSignal.timeout(timeoutMs);
  const over = AbortSignal.any(signal ? [signal, timeout] : [timeout]);
  if (over.aborted) return { exitCode: null, stdout: '', stderr: '', ended: 'aborted' };
  // In a group of its own, so that all of it can be ended.
  const detached = process.platform !== 'win32';
  const child = await started(argv, { cwd, detached, windowsHide: true, stdio: 'pipe' });
  const stdout = keptHead(child.stdout);
  const stderr = keptHead(child.stderr);
  const end = () => endGroup(child.pid);
  over.addEventListener('abort', end);
  if (over.aborted) end();
  // A program need not read what it is given.
  child.stdin?.on('error', () => undefined).end(input);
  const closed = once(child, 'close');
  const [exitCode] = (await once(child, 'exit')) as [number | null];
  over.removeEventListener('abort', end);
  await Promise.race([closed, pause(lingerMs, undefined, { ref: false })]);
  for (const stream of [child.stdout, child.stderr]) stream?.destroy();
  const ended = signal?.aborted ? 'aborted' : timeout.aborted ? 'timed_out' : 'exited';
  return { exitCode, stdout: stdout(), stderr: stderr(), ended };
}

/**
 * Hands the terminal to a program, such as an editor, until it ends; whether it ended well. Whoever calls
 * leaves raw mode first. Throws PROGRAM_FAILED when it cannot be started.
 */
export async function runInTerminal(argv: readonly string[]): Promise<boolean> {
  const child = await started(argv, { stdio: 'inherit' });
  const [exitCode] = (await once(child, 'exit')) as [number | null];
  return exitCode === 0;
}

async function started(argv: readonly string[], options: SpawnOptions): Promise<ChildProcess> {
  const { spawn } = await import('node:child_process');
  const [file = '', ...args] = argv;
  try {
    // Node itself refuses batch files, which only a shell could run.
    const child = spawn(file, args, options);
    await once(child, 'spawn');
    // It can fail later, too.
    child.on('error', () => undefined);
    return child;
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    const why = isMissing ? 'it, or the folder it runs in, was not found' : String(error);
    throw new ChatError('PROGRAM_FAILED', `${file} cannot be started: ${why}.`, { cause: error });
  }
}

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

async function endGroup(pid: number | undefined): Promise<void> {
  if (pid === undefined) return;
  if (process.platform === 'win32') {
    const { execFile } = await import('node:child_process');
    const taskkill = `${process.env['SystemRoot'] ?? 'C:\\Windows'}\\System32\\taskkill.exe`;
    execFile(taskkill, ['/PID', String(pid), '/T', '/F'], { windowsHide: true }, () => undefined);
    return;
  }
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // ESRCH: all of it has already ended, which is what was wanted.
  }
}
