import { randomBytes } from 'node:crypto';
import { existsSync, lstatSync, readdirSync } from 'node:fs';
import type { Entry } from './change.ts';
import { isEntry, isTemporaryPath } from './entry-check.ts';
import { thisOwner, type Owner } from './lock-owner.ts';
import { addNote, createNotes, readNotes, type NoteFile } from './note-file.ts';
import { codeOf } from '../paths/real-path.ts';
import { noJournal } from './write-failure.ts';

/** Whose log it is, and so whose the locks are that lead to it. */
export interface Worker {
  readonly token: string;
  readonly owner: Owner;
  /** When it last noted something. */
  readonly since: number;
  /** The inode of the log, which a copy of it has not. */
  readonly ino?: number;
}

/** What is known of one piece of work, by its number in a log. */
export interface Work {
  readonly number: number;
  /** Real paths of the temporary files it may make. */
  readonly temporaries: readonly string[];
  readonly entry?: Entry;
  /** `done`: the change was made. `dropped`: it was not, and will not be. */
  readonly end?: 'done' | 'dropped';
}

/** One piece of work of this process. */
export interface Working {
  /** What is about to be done; again, when more is known of it. Throws WRITE_FAILED. */
  begin(entry: Entry): void;
  /** It has been done. Never throws: where that cannot be noted it is found out when this process has ended. */
  done(): void;
  /** It has not been done. Throws WRITE_FAILED. */
  drop(): void;
}

/**
 * What this process is doing, so that it can be finished when it dies: one file that is only added to. Making a file for
 * each change instead would make the fsync of the changed file wait for that one too: +40 % on ext4.
 */
export interface WorkLog {
  readonly worker: Worker;
  readonly path: string;
  /** Whether the file is still there. */
  isThere(): boolean;
  /** Throws WRITE_FAILED. */
  start(temporaries: readonly string[]): { readonly working: Working; finish(): void };
  /** Files each change that was made, and forgets it. Only when nothing is going on; says whether that was so. */
  clear(file: (entry: Entry) => void): boolean;
  /** Closes it, once nothing is going on. */
  retire(): void;
}

type Note = Partial<Omit<Work, 'number'>> & Pick<Work, 'number'>;

export const logsFolder = (folder: string): string => `${folder}/pending`;

/** Makes the log of this process. Throws WRITE_FAILED. */
export function createWorkLog(folder: string): WorkLog {
  const worker = { token: randomBytes(8).toString('hex'), owner: thisOwner(), since: Date.now() };
  const path = `${logsFolder(folder)}/${worker.token}`;
  const orFail = <T>(work: () => T): T => {
    try {
      return work();
    } catch (error) {
      throw noJournal(folder, `cannot be written to (${codeOf(error)})`);
    }
  };
  const file: NoteFile = orFail(() => createNotes(path, (ino) => ({ ...worker, ino })));
  const goingOn = new Set<number>();
  let last = 0;
  let isRetired = false;
  const closeWhenIdle = () => {
    if (isRetired && goingOn.size === 0) file.close();
  };
  return {
    worker,
    path,
    isThere: () => existsSync(path),

    start(temporaries) {
      const number = ++last;
      const note = (what: Omit<Note, 'number'>) => orFail(() => file.note({ number, ...what }));
      if (temporaries.length > 0) note({ temporaries });
      goingOn.add(number);
      let isOpen = false;
      const end = (how: 'done' | 'dropped') => {
        note({ end: how });
        isOpen = false;
      };
      return {
        working: {
          begin(entry) {
            note({ entry });
            isOpen = true;
          },
          done() {
            try {
              end('done');
            } catch {
              // The change has been made: to fail now would be a lie.
            }
          },
          drop: () => end('dropped'),
        },
        finish() {
          // What has no end must stay in the log.
          if (!isOpen) goingOn.delete(number);
          closeWhenIdle();
        },
      };
    },

    clear(fileEntry) {
      if (goingOn.size > 0) return false;
      for (const { entry, end } of workIn(folder, worker.token))
        if (entry && end === 'done') fileEntry(entry);
      file.reset();
      return true;
    },

    retire() {
      isRetired = true;
      closeWhenIdle();
    },
  };
}

/**
 * Whose log, or lock that leads to one, it is; undefined when there is none. A damaged one, and one with a token that
 * is none, has an unknown owner.
 */
export function workerOf(folder: string, name: string): Worker | undefined {
  const found = lstatSync(`${folder}/${name}`, { throwIfNoEntry: false });
  if (!found) return undefined;
  const [worker] = readNotes(folder, name) as [Worker?];
  const isWhole = worker?.owner !== undefined && worker.owner.pid > 0 && isToken(worker.token);
  return {
    ...(isWhole ? worker : { token: name, owner: { pid: 0, host: '' } }),
    since: found.mtimeMs,
  };
}

/**
 * Whether a log was written where it is: only then is anything touched that it names. A project can bring a copy of one,
 * when the state folder is in it.
 */
export function isWrittenHere(folder: string, token: string): boolean {
  const found = lstatSync(`${logsFolder(folder)}/${token}`, { throwIfNoEntry: false });
  const worker = workerOf(logsFolder(folder), token);
  return found !== undefined && worker?.token === token && worker.ino === found.ino;
}

/** What is noted in a log, in the order it began; without what this program does not note. */
export function workIn(folder: string, token: string): Work[] {
  const works = new Map<number, Work>();
  for (const note of readNotes(logsFolder(folder), token).slice(1) as (Note | undefined)[])
    if (typeof note?.number === 'number' && isNote(note))
      works.set(note.number, { temporaries: [], ...works.get(note.number), ...note });
  return [...works.values()];
}

/** What is noted in all logs. */
export function allWork(folder: string): Work[] {
  return logsIn(folder).flatMap((token) => workIn(folder, token));
}

const isNote = ({ entry, temporaries = [] }: Note): boolean =>
  (entry === undefined || isEntry(entry)) && Array.isArray(temporaries) && temporaries.every(isTemporaryPath);

/** Tokens become parts of paths. */
const isToken = (name: string): boolean => /^[0-9a-f]{16}$/.test(name);

export const logsIn = (folder: string): string[] =>
  existsSync(logsFolder(folder)) ? readdirSync(logsFolder(folder)).filter(isToken) : [];

/** Notes how the work of a dead process ended. Throws what the system says. */
export function endFor(folder: string, token: string, { number }: Work, end: 'done' | 'dropped'): void {
  addNote(`${logsFolder(folder)}/${token}`, { number, end });
}
