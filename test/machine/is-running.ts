import { readFileSync } from 'node:fs';

/** Whether the process whose id was written to a file is still there. */
export function isRunning(pidFile: string): boolean {
  const pid = readFileSync(pidFile, 'utf8').trim();
  try {
    process.kill(Number(pid), 0);
    // A zombie runs no more: it waits for an init that some containers do not have.
    return process.platform !== 'linux' || !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}
