import { readFileSync } from 'node:fs';

/** A server that ends its own children needs some milliseconds. */
const graceMs = 300;
const stepMs = 10;

/**
 * Ends processes while nothing else may run (a crash, a second Ctrl-C, a server that does not end by itself): TERM,
 * so that servers end what they started, and KILL for those that are still there shortly afterwards. Blocks for 0.3
 * seconds at most.
 */
export function endProcesses(pids: readonly number[]): void {
  for (const pid of pids) signalTo(pid, 'SIGTERM');
  const clock = new Int32Array(new SharedArrayBuffer(4));
  for (let waited = 0; waited < graceMs && pids.some(isRunning); waited += stepMs)
    Atomics.wait(clock, 0, 0, stepMs);
  for (const pid of pids) signalTo(pid, 'SIGKILL');
}

function signalTo(pid: number, signal: 'SIGTERM' | 'SIGKILL'): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended, as was wanted.
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  if (process.platform !== 'linux') return true;
  try {
    // What has ended stays a zombie until the event loop runs again: `pid (name) Z …`.
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return false;
  }
}

/** Whether it was done in time; a failure counts as done. */
export async function within(ms: number, done: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => (timer = setTimeout(resolve, ms, false)));
  const settled = done.then(
    () => true,
    () => true,
  );
  return Promise.race([settled, late]).finally(() => clearTimeout(timer));
}
