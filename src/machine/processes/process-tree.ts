import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Platform } from '../../core/discoverer.ts';
import { linuxFamily } from './process-family.ts';

/** Every child carries this variable; what it starts inherits it, wherever it moves in the process tree. */
export const runMarker = 'TOOLCRIB_RUN';

/** How long a program may take to end by itself after SIGTERM. The server has one second in all to leave. */
const graceMs = 300;
/** How long to try, when there are too many open files to see what is there. */
const unseenMs = 600;
const pollMs = 15;

/**
 * Ends a program and everything it started: SIGTERM, a grace, SIGKILL. Resolves when they are gone. Its own group gets the
 * SIGKILL whatever was seen of it.
 */
export async function endProcessTree(pid: number, marker: string, platform: Platform): Promise<void> {
  if (platform === 'win32') return taskkill(pid);
  const family = platform === 'linux' ? markedFamily(pid, marker) : () => descendants(pid);
  signalAll(pid, (await family()).pids, 'SIGTERM');
  const isGone = await gone(family, graceMs);
  signal(-pid, 'SIGKILL');
  if (!isGone) await gone(family, graceMs, 'SIGKILL');
}

/** Kills what is left of a program's own process group after the program itself has ended. */
export function endGroup(pid: number, platform: Platform): void {
  if (platform !== 'win32') signal(-pid, 'SIGKILL');
}

function signalAll(group: number, pids: readonly number[], name: NodeJS.Signals): void {
  signal(-group, name);
  for (const pid of pids) signal(pid, name);
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // ESRCH: it has already ended, which is what was wanted.
  }
}

/** Those that were found; `all`: there are no others. */
interface Found {
  readonly pids: readonly number[];
  readonly all: boolean;
}

/** Looks again each time, and then signals: something may be started between a listing and a signal. */
async function gone(family: () => Promise<Found>, withinMs: number, name?: NodeJS.Signals): Promise<boolean> {
  const startedAt = performance.now();
  for (;;) {
    const { pids, all } = await family();
    if (all && pids.length === 0) return true;
    if (name) for (const pid of pids) signal(pid, name);
    // What could not be seen has to be waited for: the files of what has been ended are closed soon.
    if (performance.now() - startedAt > (all ? withinMs : unseenMs)) return false;
    await sleep(pollMs);
  }
}

/** The last look at what a program started: one at a time has the few files that may be free. */
let lastLook: Promise<unknown> = Promise.resolve();

function inTurn<T>(look: () => Promise<T>): Promise<T> {
  const now = lastLook.then(look);
  lastLook = now.catch(() => undefined);
  return now;
}

/** Remembers whom it has found: what has left the group and lost its parent is still looked for by its id. */
function markedFamily(pid: number, marker: string): () => Promise<Found> {
  let known = new Map<number, string>();
  return async () => {
    try {
      const marks = [`${runMarker}=${marker}`];
      known = await inTurn(() => linuxFamily({ readdir, readFile }, { marks, groups: [pid], known }));
      return { pids: [...known.keys()], all: true };
    } catch {
      // Too many open files: those that were found before are taken to be there.
      return { pids: [...known.keys()], all: false };
    }
  };
}

async function descendants(root: number): Promise<Found> {
  const listing = await output('/bin/ps', ['-axo', 'pid=,ppid=,state=']);
  const children = new Map<number, number[]>();
  const found: number[] = [];
  for (const line of listing.split('\n')) {
    const [id, parentId, state] = line.trim().split(/\s+/);
    const [pid, parent] = [Number(id), Number(parentId)];
    // A zombie has ended; only its parent has not looked yet.
    if (!pid || !parent || state?.startsWith('Z')) continue;
    if (pid === root) found.push(pid);
    children.set(parent, [...(children.get(parent) ?? []), pid]);
  }
  const queue = [root];
  for (let pid = queue.pop(); pid !== undefined; pid = queue.pop()) {
    const below = children.get(pid) ?? [];
    found.push(...below);
    queue.push(...below);
  }
  // It lists at least itself.
  return { pids: found, all: listing !== '' };
}

async function taskkill(pid: number): Promise<void> {
  const root = process.env['SystemRoot'] ?? 'C:\\Windows';
  await output(`${root}\\System32\\taskkill.exe`, ['/PID', String(pid), '/T', '/F']);
}

// Not through process.ts: this is what process.ts itself ends programs with, and both are fixed system tools.
async function output(file: string, args: readonly string[]): Promise<string> {
  const { execFile } = await import('node:child_process');
  return new Promise((resolve) => {
    execFile(file, args, { timeout: 2000, windowsHide: true }, (_error, stdout) => resolve(stdout));
  });
}

/** A process of ours that runs beside this one. */
export interface Beside {
  /** Writes to its input; nothing happens when it is gone. */
  tell(text: string): void;
  /** Closes its input, upon which it ends. */
  leave(): void;
}

/**
 * Starts Node with a script, in a session and a folder of its own and with no environment but `given`; it does not keep us
 * alive. `onEnd` is called when it has ended. Undefined when it could not be started, as with too many open files.
 */
export function startBeside(
  script: string,
  given: Readonly<Record<string, string>>,
  onEnd: () => void,
): Beside | undefined {
  const { spawn } = process.getBuiltinModule('node:child_process');
  const { SystemRoot, ELECTRON_RUN_AS_NODE } = process.env;
  const child = spawn(process.execPath, ['--max-semi-space-size=1', '-e', script], {
    cwd: SystemRoot ?? '/',
    env: {
      ...given,
      ...(SystemRoot !== undefined && { SystemRoot }),
      ...(ELECTRON_RUN_AS_NODE !== undefined && { ELECTRON_RUN_AS_NODE }),
    },
    detached: true,
    windowsHide: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  child.once('error', () => undefined).once('exit', onEnd);
  // With too many open files there is not even an input.
  const { stdin } = child as Partial<typeof child>;
  if (child.pid === undefined || !stdin) return undefined;
  child.unref();
  // EPIPE when it was killed; that it has ended is said by its exit.
  stdin.on('error', () => undefined);
  // A pipe is a socket here.
  if ('unref' in stdin && typeof stdin.unref === 'function') stdin.unref();
  return {
    tell: (text) => void (stdin.writable && stdin.write(text)),
    leave: () => void stdin.end(),
  };
}
