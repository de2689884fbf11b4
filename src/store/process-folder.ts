import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { isPrivate } from './own-files.ts';

let current: string | undefined;

/**
 * The private folder of this process below the system's temporary one, for files that have no other place or
 * no use after the process has ended. It is removed at exit; the folder of a killed process is removed when
 * the next one is made. Throws the system's error.
 */
export function processFolder(): string {
  if (current !== undefined) return current;
  removeStale();
  const folder = mkdtempSync(join(tmpdir(), `${prefix()}${process.pid}-`));
  process.once('exit', () => {
    // Files that another process still writes there stay, and are removed with the next folder.
    if (current !== undefined) remove(current);
  });
  current = folder;
  return folder;
}

/** The folder of this process, if `processFolder` has made it. */
export const processFolderMade = (): string | undefined => current;

/**
 * The start of a folder's name. It holds the host, because containers can share the temporary folder but not
 * process ids.
 */
const prefix = (): string => `toolcrib-${hostname().replaceAll(/[^\w.]/g, '') || 'here'}-`;

function removeStale(): void {
  const start = prefix();
  for (const name of readdirSync(tmpdir())) {
    if (!name.startsWith(start)) continue;
    const pid = /^(\d+)-\w{6}$/.exec(name.slice(start.length))?.[1];
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
    // The next process tries again.
  }
}
