import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { isPrivate } from './own-files.ts';

let made: string | undefined;

/**
 * A folder that nobody else can open, below the system's temporary one: for what has no other place, or is of
 * no use when this process has ended. It goes with the process; that of one that was killed goes when the
 * next is made. Throws what the system says.
 */
export function processFolder(): string {
  if (made !== undefined) return made;
  removeLeft();
  const folder = mkdtempSync(join(tmpdir(), `${prefix()}${process.pid}-`));
  process.once('exit', () => {
    // What another process still writes there stays, and goes with the next.
    if (made !== undefined) remove(made);
  });
  return (made = folder);
}

/** Where that folder is, once it was asked for. */
export const processFolderMade = (): string | undefined => made;

/** Containers can share a folder of temporary files, but not the numbers of their processes. */
const prefix = (): string => `toolcrib-${hostname().replaceAll(/[^\w.]/g, '') || 'here'}-`;

function removeLeft(): void {
  const before = prefix();
  for (const name of readdirSync(tmpdir())) {
    const [, pid] = (name.startsWith(before) && /^(\d+)-\w{6}$/.exec(name.slice(before.length))) || [];
    const folder = join(tmpdir(), name);
    if (pid !== undefined && !isRunning(Number(pid)) && isPrivate(folder)) remove(folder);
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function remove(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  } catch {
    // It is tried again by the next.
  }
}
