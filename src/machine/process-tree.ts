import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Platform } from '../core/discoverer.ts';

/** Every child carries this variable; what it starts inherits it, wherever it moves in the process tree. */
export const runMarker = 'TOOLCRIB_RUN';

/** How long a program may take to end by itself after SIGTERM. The server has one second in all to leave. */
const graceMs = 300;
const pollMs = 15;

/** Ends a program and everything it started: SIGTERM, a grace, SIGKILL. Resolves when they are gone. */
export async function endProcessTree(pid: number, marker: string, platform: Platform): Promise<void> {
  if (platform === 'win32') return taskkill(pid);
  const family = () => familyOf(pid, marker, platform);
  signalAll(pid, await family(), 'SIGTERM');
  if (await gone(family, graceMs)) return;
  signalAll(pid, await family(), 'SIGKILL');
  await gone(family, graceMs);
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

/** Looks again each time: something may be started between a listing and a signal. */
async function gone(family: () => Promise<readonly number[]>, withinMs: number): Promise<boolean> {
  const until = performance.now() + withinMs;
  while ((await family()).length > 0) {
    if (performance.now() > until) return false;
    await sleep(pollMs);
  }
  return true;
}

/** Processes that carry the marker or descend from `pid`, without those that have ended. */
async function familyOf(pid: number, marker: string, platform: Platform): Promise<number[]> {
  return platform === 'linux' ? markedProcesses(marker) : descendants(pid);
}

/** Linux shows a process's first environment: a daemon that left group, session and parent still carries the mark. */
async function markedProcesses(marker: string): Promise<number[]> {
  const entries = await readdir('/proc').catch(() => []);
  const pids = entries.filter((entry) => /^\d+$/.test(entry));
  const wanted = Buffer.from(`${runMarker}=${marker}`);
  const marked = await Promise.all(
    pids.map(async (pid) => {
      // Not readable: another user's process, hence none of ours. A zombie's is empty.
      const environment = await readFile(`/proc/${pid}/environ`).catch(() => undefined);
      return environment?.includes(wanted) ? Number(pid) : undefined;
    }),
  );
  return marked.filter((pid) => pid !== undefined);
}

async function descendants(root: number): Promise<number[]> {
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
  return found;
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
