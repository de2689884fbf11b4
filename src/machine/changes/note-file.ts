import { closeSync, constants, fstatSync, ftruncateSync, openSync, writeSync } from 'node:fs';
import { readPrivate } from '../folders.ts';

/** A private file of JSON values, one a line, to which more are added. */
export interface NoteFile {
  /** Throws what the system says; what was noted before stays readable. */
  note(value: unknown): void;
  /** Drops all but what was noted at first. */
  reset(): void;
  close(): void;
}

const noFollow = constants.O_NOFOLLOW ?? 0;
/** A FIFO must neither block nor take the notes. */
const nonBlocking = constants.O_NONBLOCK ?? 0;
const adding = constants.O_WRONLY | constants.O_APPEND | noFollow | nonBlocking;

/**
 * Makes one and notes something, which may be about the inode of the file. Throws what the system says, also when
 * something is at the path.
 */
export function createNotes(path: string, firstOf: (ino: number) => unknown): NoteFile {
  const fd = openSync(path, adding | constants.O_CREAT | constants.O_EXCL, 0o600);
  const file = notesIn(fd);
  file.note(firstOf(fstatSync(fd).ino));
  const { size } = fstatSync(fd);
  return { ...file, reset: () => ftruncateSync(fd, size) };
}

/** Adds to the notes of a process that has died, perhaps in the middle of a line. Throws what the system says. */
export function addNote(path: string, value: unknown): void {
  const fd = openSync(path, adding);
  try {
    writeSync(fd, '\n');
    notesIn(fd).note(value);
  } finally {
    closeSync(fd);
  }
}

/** What was noted, oldest first; undefined stands for what is not whole, or damaged. */
export function readNotes(folder: string, name: string): unknown[] {
  const lines = readPrivate(folder, name)?.toString('utf8').split('\n') ?? [];
  // What comes after the last end of a line was being written.
  return lines.slice(0, -1).map((line) => {
    try {
      return JSON.parse(line) as unknown;
    } catch {
      return undefined;
    }
  });
}

function notesIn(fd: number): Omit<NoteFile, 'reset'> {
  return {
    note(value) {
      const line = Buffer.from(`${JSON.stringify(value)}\n`);
      for (let done = 0; done < line.length;) done += writeSync(fd, line, done);
    },
    close: () => closeSync(fd),
  };
}
