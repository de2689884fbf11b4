import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmdirSync,
  unlinkSync,
  writeSync,
  type Stats,
} from 'node:fs';
import { makePrivate } from '../folders.ts';

/** A file of lines that several processes add to. */
export interface Log {
  /** Writes whole lines, in one piece. Throws what the system says, or what is wrong with the file. */
  append(lines: string): void;
  close(): void;
}

/** The file that is written to. */
export const currentName = 'audit.jsonl';
/** How many older files are kept; with the newest, 60 MB at most. */
const kept = 5;
/** After a failure, how long nothing is tried, in milliseconds: a folder that is not ours stays so for a while. */
const pauseMs = 1000;

// Windows has neither; there the folder's access list keeps others out.
const noFollow = constants.O_NOFOLLOW ?? 0;
const nonBlocking = constants.O_NONBLOCK ?? 0;

/** A log in a folder of our own, begun anew when it has `rotateAt` bytes. */
export function createLog(folder: string, rotateAt: number): Log {
  const path = `${folder}/${currentName}`;
  let opened: Opened | undefined;
  let rotations = 0;
  let failure: { readonly error: unknown; readonly at: number } | undefined;

  const close = () => {
    if (opened) closeSync(opened.descriptor);
    opened = undefined;
  };
  /** The open file, if it is the one at the path: another process may have begun a new one, or a person removed it. */
  const stillThere = (): Opened | undefined => {
    const facts = opened && lstatSync(path, { throwIfNoEntry: false });
    if (!opened || facts?.ino !== opened.ino || facts.dev !== opened.dev) return undefined;
    if (facts.size < rotateAt) return opened;
    return beginAnew(opened) ? undefined : opened;
  };
  /** Puts the full file away. False when another process is at it: its next line goes where it is told then. */
  const beginAnew = (full: Opened): boolean =>
    alone(folder, () => {
      // Nobody else renames now; but somebody may have a moment ago.
      const facts = lstatSync(path, { throwIfNoEntry: false });
      if (facts?.ino !== full.ino || facts.dev !== full.dev) return;
      renameSync(path, `${folder}/${olderName(rotations++)}`);
      prune(folder);
    });
  const current = (): Opened => {
    const same = stillThere();
    if (same) return same;
    close();
    return (opened = openOwn(folder, path));
  };
  return {
    append(lines) {
      if (failure && performance.now() - failure.at < pauseMs) throw failure.error;
      try {
        const file = current();
        const bytes = Buffer.from(file.isTorn ? `\n${lines}` : lines);
        file.isTorn = false;
        // Opened to append: each write goes to the end as one piece, also beside those of other processes.
        if (writeSync(file.descriptor, bytes) < bytes.length)
          throw new Error(`${path} takes no more: the disk is full`);
        failure = undefined;
      } catch (error) {
        close();
        failure = { error, at: performance.now() };
        throw error;
      }
    },
    close,
  };
}

/** A process that holds the folder for longer was killed: what it does there takes less than a millisecond. */
const staleMs = 10_000;

/** Does something that only one process may do at a time. False, and nothing is done, when another one is at it. */
function alone(folder: string, work: () => void): boolean {
  const held = `${folder}/rotating`;
  try {
    mkdirSync(held, 0o700);
  } catch {
    const facts = lstatSync(held, { throwIfNoEntry: false });
    if (facts?.isDirectory() && Date.now() - facts.mtimeMs > staleMs) rmdirSync(held);
    return false;
  }
  try {
    work();
  } finally {
    rmdirSync(held);
  }
  return true;
}

interface Opened {
  readonly descriptor: number;
  readonly dev: number;
  readonly ino: number;
  /** Whether what was written last, by whoever it was, has been cut off. */
  isTorn: boolean;
}

/** Opens the file, or makes it. Throws when it could be anything but a file of ours alone. */
function openOwn(folder: string, path: string): Opened {
  if (!makePrivate(folder)) throw new Error(`${folder} is not a folder that belongs to this user alone`);
  // Readable, so that its last byte can be looked at.
  const flags = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | noFollow | nonBlocking;
  const descriptor = openSync(path, flags, 0o600);
  try {
    const facts = fstatSync(descriptor);
    checkOwn(facts, path);
    if (process.geteuid !== undefined && (facts.mode & 0o077) !== 0) fchmodSync(descriptor, 0o600);
    return { descriptor, dev: facts.dev, ino: facts.ino, isTorn: isCutOff(descriptor, facts.size) };
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
}

function checkOwn(facts: Stats, path: string): void {
  const uid = process.geteuid?.();
  if (!facts.isFile()) throw new Error(`${path} is no regular file`);
  if (uid !== undefined && facts.uid !== uid) throw new Error(`${path} belongs to somebody else`);
  if (facts.nlink > 1) throw new Error(`${path} has a second name`);
}

function isCutOff(descriptor: number, size: number): boolean {
  const last = Buffer.alloc(1);
  return size > 0 && readSync(descriptor, last, 0, 1, size - 1) === 1 && last[0] !== 0x0a;
}

/** `audit-20260131T235959123Z-4711-0.jsonl`: in the order of the names they are in the order of time. */
function olderName(count: number): string {
  const time = new Date().toISOString().replaceAll(/[-:.]/g, '');
  return `audit-${time}-${process.pid}-${count}.jsonl`;
}

/** The names of all files of the audit, the oldest first. Throws what the system says. */
export const logNames = (folder: string): string[] => {
  const names = readdirSync(folder).filter((name) => /^audit-\w[\w-]*\.jsonl$/.test(name));
  return [...names.sort(), currentName];
};

function prune(folder: string): void {
  for (const name of logNames(folder).slice(0, -1 - kept)) {
    try {
      unlinkSync(`${folder}/${name}`);
    } catch {
      // Another server was faster.
    }
  }
}
