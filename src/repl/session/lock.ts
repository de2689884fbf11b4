import { linkSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { uptime } from 'node:os';

/** The right to write a session. */
export interface Lock {
  release(): void;
}

/** A lock that cannot be read is being written; after so long, whoever was writing it is gone. */
const writingMs = 5000;

/**
 * Takes `<file>.lock`, which says which process has it and when that was started; undefined when one that lives has
 * it. The lock of one that is gone is taken over.
 */
export function takeLock(file: string): Lock | undefined {
  const path = `${file}.lock`;
  const mine = `${process.pid} ${startOf(process.pid)}\n`;
  if (!create(path, mine) && !(removeStale(path) && create(path, mine))) return undefined;
  return {
    release() {
      if (read(path) === mine) rmSync(path, { force: true });
    },
  };
}

/** Whether a process that lives has the session open. */
export function isLocked(file: string): boolean {
  const text = read(`${file}.lock`);
  return text !== undefined && !isStale(`${file}.lock`, text);
}

function create(path: string, text: string): boolean {
  try {
    writeFileSync(path, text, { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
}

/** Two processes may find the same stale lock: it is renamed, and put back if it was the lock of whoever was faster. */
function removeStale(path: string): boolean {
  const text = read(path);
  if (text === undefined) return true;
  if (!isStale(path, text)) return false;
  const aside = `${path}.${process.pid}`;
  try {
    renameSync(path, aside);
    const same = read(aside) === text;
    if (!same) linkSync(aside, path);
    return same;
  } catch (error) {
    if (['ENOENT', 'EEXIST'].includes(codeOf(error))) return false;
    throw error;
  } finally {
    rmSync(aside, { force: true });
  }
}

function isStale(path: string, text: string): boolean {
  const made = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const [, pid, start] = /^(\d+) (\S+)\n$/.exec(text) ?? [];
  if (pid === undefined) return Date.now() - made > writingMs;
  // Older than this machine has been running: the number may belong to another program by now.
  if (made < Date.now() - uptime() * 1000 - writingMs) return true;
  return !lives(Number(pid)) || startOf(Number(pid)) !== start;
}

function lives(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
}

/** When a process was started, in ticks since the machine was; `-` where only another program could tell. */
function startOf(pid: number): string {
  const stat = read(`/proc/${pid}/stat`);
  // Field 22, counted after the program's name, which may hold spaces and brackets.
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '-';
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined; // Not there: no lock, or no such process.
  }
}

const codeOf = (error: unknown): string => String((error as { code?: unknown }).code);
