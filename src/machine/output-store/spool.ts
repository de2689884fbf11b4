import { createHash, randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  ftruncateSync,
  openSync,
  readSync,
  readdirSync,
  statSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { isAlive, thisOwner, type Owner } from './owner.ts';
import { makePrivate } from '../folders.ts';
import { blockBytes } from './block.ts';

/** A file of slots of one block each, which nobody else can open. */
export interface Spool {
  /** Throws what the system does, and when not all could be written. */
  write(slot: number, bytes: Buffer): void;
  /** Throws what the system does. */
  read(slot: number, length: number): Buffer;
  /** Gives all room back; when nothing in it is needed any more. */
  empty(): void;
  close(): void;
}

/** A file whose server cannot be asked, having run on another computer, in another container, or before a restart. */
const foreignMs = 7 * 24 * 60 * 60 * 1000;

/**
 * Opens a file for what programs print, in a private folder of the cache that is made when it is missing. It has no name from then on,
 * so that nothing is left of it when this process ends, however it does. Undefined where that cannot be had.
 */
export function openSpool(cache: string): Spool | undefined {
  const folder = `${cache}/outputs`;
  try {
    if (!makePrivate(cache) || !makePrivate(folder)) return undefined;
    const me = thisOwner();
    removeLeftovers(folder, me);
    return slotsIn(`${folder}/${spoolName(me)}`);
  } catch {
    // A full disk, a read-only home, a file in the place of the folder: then less is kept, in memory.
    return undefined;
  }
}

/** What a file is called, for as long as it has a name: whose it is, so that it can be found out whether that one lives. */
export const spoolName = (owner: Owner): string =>
  `${owner.pid}-${tagOf(owner)}-${randomBytes(12).toString('hex')}`;

function slotsIn(path: string): Spool {
  const { O_RDWR, O_CREAT, O_EXCL } = constants;
  const file = openSync(path, O_RDWR | O_CREAT | O_EXCL | (constants.O_NOFOLLOW ?? 0), 0o600);
  // Where an open file keeps its name, it is removed at the end.
  const isNamed = !isRemoved(path);
  return {
    write(slot, bytes) {
      const written = writeSync(file, bytes, 0, bytes.length, slot * blockBytes);
      if (written < bytes.length) throw new Error(`${written} of ${bytes.length} bytes were written`);
    },
    read(slot, length) {
      const bytes = Buffer.allocUnsafe(length);
      const read = readSync(file, bytes, 0, length, slot * blockBytes);
      if (read < length) throw new Error(`${read} of ${length} bytes were read`);
      return bytes;
    },
    empty: () => ftruncateSync(file),
    close() {
      closeSync(file);
      if (isNamed) isRemoved(path);
    },
  };
}

/** Files that still have a name, though their server has ended. */
function removeLeftovers(folder: string, me: Owner): void {
  const { started: _notTheirs, ...sameComputer } = me;
  for (const name of readdirSync(folder)) {
    const [, pid, tag] = /^(\d+)-([0-9a-f]{16})-[0-9a-f]{24}$/.exec(name) ?? [];
    if (pid === undefined) continue;
    const path = `${folder}/${name}`;
    const since = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
    const isLeft =
      tag === tagOf(me)
        ? !isAlive({ ...sameComputer, pid: Number(pid) }, since, me)
        : Date.now() - since > foreignMs;
    if (isLeft) isRemoved(path);
  }
}

/** The computer, its last start, and whose process numbers: where a process can be asked whether it lives. */
const tagOf = ({ host, boot, numbers }: Owner): string =>
  createHash('sha256')
    .update(JSON.stringify([host, boot, numbers]))
    .digest('hex')
    .slice(0, 16);

function isRemoved(path: string): boolean {
  try {
    unlinkSync(path);
    return true;
  } catch {
    // Somebody else was first, or the system keeps the names of open files.
    return false;
  }
}
