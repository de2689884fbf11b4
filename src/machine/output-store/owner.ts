import { readFileSync, readlinkSync } from 'node:fs';
import { hostname, uptime } from 'node:os';

/** The process that holds a lock, so that others can tell whether it still lives. */
export interface Owner {
  readonly pid: number;
  readonly host: string;
  /** Linux: when it started, in clock ticks since the computer did. A number that is given again has another. */
  readonly started?: string;
  /** Linux: this run of the kernel, and the process numbers that are its own (containers have others). */
  readonly boot?: string;
  readonly numbers?: string;
}

/** After so long a process that cannot be asked, on another machine or in another container, is taken for dead. */
const foreignMs = 10 * 60_000;

export function thisOwner(): Owner {
  const started = startOf('self');
  const boot = firstLine('/proc/sys/kernel/random/boot_id');
  const numbers = process.platform === 'linux' ? linkOf('/proc/self/ns/pid') : undefined;
  return {
    pid: process.pid,
    host: hostname(),
    ...(started && { started }),
    ...(boot && { boot }),
    ...(numbers && { numbers }),
  };
}

/** Whether a process still lives that took something at `sinceMs`; in doubt it does. */
export function isAlive(owner: Owner, sinceMs: number, me: Owner): boolean {
  if (owner.host !== me.host || owner.numbers !== me.numbers) return Date.now() - sinceMs < foreignMs;
  if (owner.boot !== me.boot) return false;
  // Elsewhere the start of the computer is only known roughly.
  if (owner.boot === undefined && sinceMs < Date.now() - uptime() * 1000 - 60_000) return false;
  if (!isProcess(owner.pid)) return false;
  return owner.started === undefined || owner.started === startOf(owner.pid);
}

function isProcess(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Field 22 of proc(5); the name before it may itself hold blanks and brackets. A zombie has ended. */
function startOf(pid: number | 'self'): string | undefined {
  if (process.platform !== 'linux') return undefined;
  const line = firstLine(`/proc/${pid}/stat`);
  const fields = line?.slice(line.lastIndexOf(')') + 2).split(' ');
  return fields?.[0] === 'Z' ? undefined : fields?.[19];
}

function firstLine(path: string): string | undefined {
  if (process.platform !== 'linux') return undefined;
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    // Hidden, or gone: then it is not known.
    return undefined;
  }
}

function linkOf(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    // Hidden in some sandboxes.
    return undefined;
  }
}
