import { readFileSync, rmSync, writeFileSync } from 'node:fs';

/**
 * Takes the right to write a session: `<file>.lock`, which says which process has it and when that was started. Returns
 * what gives it back; undefined when one that lives has it. The lock of one that is gone is taken over.
 */
export function takeLock(file: string): (() => void) | undefined {
  const path = `${file}.lock`;
  if (isLocked(file)) return undefined;
  rmSync(path, { force: true });
  try {
    writeFileSync(path, `${process.pid} ${startOf(process.pid)}\n`, { flag: 'wx', mode: 0o600 });
  } catch (error) {
    // Another one was faster.
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return undefined;
    throw error;
  }
  return () => rmSync(path, { force: true });
}

/** Whether a process that lives has the session open. */
export function isLocked(file: string): boolean {
  const [, pid, start] = /^(\d+) (\S+)\n$/.exec(read(`${file}.lock`)) ?? [];
  // The number may belong to another program by now.
  return pid !== undefined && lives(Number(pid)) && startOf(Number(pid)) === start;
}

function lives(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** When a process was started, in ticks since the machine was; `-` where only another program could tell. */
function startOf(pid: number): string {
  const stat = read(`/proc/${pid}/stat`);
  // Field 22, counted after the program's name, which may hold spaces and brackets.
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '-';
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return ''; // Not there: no lock, or no such process.
  }
}
