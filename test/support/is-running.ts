import { readFileSync } from 'node:fs';

/** Sees if a process is still there. One that has ended and that nobody waits for, a zombie, is not. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return (
      process.platform !== 'linux' || !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
    );
  } catch {
    return false; // It was gone, or has gone between the two lines.
  }
}

/** Sees if the process whose id was written to a file is still there. */
export const isRunningIn = (pidFile: string): boolean => isRunning(Number(readFileSync(pidFile, 'utf8')));
