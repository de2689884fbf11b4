import { closeSync, constants, openSync, writeSync } from 'node:fs';
import { readPrivate } from './folders.ts';

/** A private file of JSON values, one a line, to which more are added. */
export interface NoteFile {
  /** Throws what the system says; what was noted before stays readable. */
  note(value: unknown): void;
  close(): void;
}

const noFollow = constants.O_NOFOLLOW ?? 0;

/** Makes one. Throws what the system says, also when something is at the path. */
export function createNotes(path: string): NoteFile {
  return notesIn(
    openSync(
      path,
      constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_EXCL | noFollow,
      0o600,
    ),
  );
}

/** Opens one to add to it. Throws what the system says. */
export function addNotes(path: string): NoteFile {
  return notesIn(openSync(path, constants.O_WRONLY | constants.O_APPEND | noFollow));
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

function notesIn(fd: number): NoteFile {
  return {
    note(value) {
      const line = Buffer.from(`${JSON.stringify(value)}\n`);
      for (let done = 0; done < line.length;) done += writeSync(fd, line, done);
    },
    close: () => closeSync(fd),
  };
}
