/** A server that ends its own children needs some milliseconds. */
const graceMs = 300;

/**
 * Ends processes while nothing else may run (a crash, a second Ctrl-C, a server that does not end by itself): TERM,
 * so that servers end what they started, and KILL 0.3 seconds later.
 */
export function endProcesses(pids: readonly number[]): void {
  const running = pids.filter((pid) => signalTo(pid, 'SIGTERM'));
  if (running.length === 0) return;
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, graceMs);
  for (const pid of running) signalTo(pid, 'SIGKILL');
}

function signalTo(pid: number, signal: 'SIGTERM' | 'SIGKILL'): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    // It has ended, as was wanted.
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
