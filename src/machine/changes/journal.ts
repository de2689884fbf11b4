import { readdirSync, unlinkSync } from 'node:fs';
import { randomInt } from 'node:crypto';
import { dirname } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { Entry } from './change.ts';
import { isEntry } from './entry-check.ts';
import { lockFolders } from './file-lock.ts';
import { createPrivate, isPrivate, makePrivate, readPrivate } from '../folders.ts';
import { contentsFolder, createKeptContents, type KeptContents } from './kept-contents.ts';
import { codeOf } from '../paths/real-path.ts';
import { applySplice } from './splice.ts';
import { allWork } from './work-log.ts';
import { noJournal } from './write-failure.ts';

/** The names of the changes that are kept. */
export interface Index {
  /** Newest first. */
  readonly ids: readonly string[];
  /** What was taken back, and by what. */
  readonly undoneBy: ReadonlyMap<string, string>;
  /** The file names of the records. */
  readonly names: ReadonlyMap<string, string>;
  /** Undefined when there is no such change, or its record is damaged. */
  entry(id: string): Entry | undefined;
}

/** The changes that were made, in a private folder: small records, and what the files were before. */
export interface Journal {
  readonly folder: string;
  readonly contents: KeptContents;
  /** Makes the folders that are missing. Throws WRITE_FAILED when they cannot be made, or are not ours alone. */
  open(): void;
  /** Whether the folders are there and ours; only then is anything read from them. */
  isOpen(): boolean;
  /** A name for a new change; later ones sort after it. */
  mint(): { id: string; at: number };
  /** Resolves when a change that begins now, in any process, gets a later name; at once when the clock was set back. */
  passed(at: number): Promise<void>;
  /** Makes a record of a change that was noted down as done. Throws what the system says. */
  file(entry: Entry): void;
  index(): Index;
  /** Removes the record of a change. */
  forget(id: string, index: Index): void;
  /** The content after a change, where it can be told. */
  contentAfter(entry: Entry): Promise<Buffer | undefined>;
  /** Where what was removed by a change is kept. */
  trashOf(id: string): string;
}

export const recordsFolder = (folder: string): string => `${folder}/changes`;
export const trashFolder = (folder: string): string => `${folder}/trash`;

/** So far the names of many changes at once may be ahead of the clock. */
const mostAheadMs = 100;

/** `ID.json`, or `ID.UNDONE.json` for one that takes another back: so the index needs no record to be read. */
const recordName = /^([0-9a-z]+-[0-9a-z]+)(?:\.([0-9a-z]+-[0-9a-z]+))?\.json$/;

export function createJournal(folder: string): Journal {
  const records = recordsFolder(folder);
  const contents = createKeptContents(folder);
  const isOpen = () => isPrivate(dirname(folder)) && isPrivate(folder);
  let last = 0;

  return {
    folder,
    contents,

    open() {
      for (const each of [
        dirname(folder),
        folder,
        records,
        contentsFolder(folder),
        trashFolder(folder),
        ...lockFolders(folder),
      ]) {
        let isOurs: boolean;
        try {
          isOurs = makePrivate(each);
        } catch (error) {
          throw noJournal(each, `cannot be made (${codeOf(error)})`);
        }
        if (!isOurs)
          throw noJournal(
            each,
            'is a symbolic link, belongs to another user, or is open to others (chmod 700 closes one that is yours)',
          );
      }
    },

    isOpen,

    mint() {
      const at = (last = Math.max(Date.now(), last + 1));
      // 36^4: a second process may make a change in the same millisecond.
      return {
        id: `${at.toString(36)}-${randomInt(36 ** 4)
          .toString(36)
          .padStart(4, '0')}`,
        at,
      };
    },

    async passed(at) {
      // A clock that was set back would take as long to get there.
      if (at - Date.now() > mostAheadMs) return;
      const until = performance.now() + mostAheadMs;
      while (Date.now() <= at && performance.now() < until) await setImmediate();
    },

    file(entry) {
      const name = recordNameOf(entry);
      // Whoever began with it may have got to its end, or have died half-way.
      if (readRecord(records, name)) return;
      discard(`${records}/${name}`);
      createPrivate(`${records}/${name}`, JSON.stringify(entry));
    },

    index() {
      const names = new Map<string, string>();
      const undoneBy = new Map<string, string>();
      const unfiled = new Map<string, Entry>();
      const isOurs = isOpen();
      // In this order: what is noted down becomes a record, and must be met as one of them.
      for (const { entry, end } of isOurs ? allWork(folder) : []) {
        if (!entry || end !== 'done') continue;
        unfiled.set(entry.id, entry);
        if (entry.undoes !== undefined) undoneBy.set(entry.undoes, entry.id);
      }
      for (const name of isOurs ? namesIn(records) : []) {
        const [, id, undoes] = recordName.exec(name) ?? [];
        if (id !== undefined) names.set(id, name);
        if (id !== undefined && undoes !== undefined) undoneBy.set(undoes, id);
      }
      return {
        ids: [...new Set([...names.keys(), ...unfiled.keys()])].sort().toReversed(),
        undoneBy,
        names,
        entry(id) {
          const name = names.get(id);
          return unfiled.get(id) ?? (name === undefined ? undefined : readRecord(records, name));
        },
      };
    },

    forget(id, { names }) {
      const name = names.get(id);
      if (name !== undefined) discard(`${records}/${name}`);
    },

    async contentAfter({ before, splice }) {
      if (!splice) return undefined;
      const from = before
        ? await contents.content(before.hash ?? '', before.size).catch(() => undefined)
        : Buffer.alloc(0);
      return from && applySplice(from, splice);
    },

    trashOf: (id) => `${trashFolder(folder)}/${id}`,
  };
}

const recordNameOf = ({ id, undoes }: Entry): string =>
  `${id}${undoes === undefined ? '' : `.${undoes}`}.json`;

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    // Nothing has been changed yet.
    return [];
  }
}

/** A record that is damaged, after a loss of power, or of another name than it has, is the same as none. */
function readRecord(folder: string, name: string): Entry | undefined {
  try {
    const entry: unknown = JSON.parse(String(readPrivate(folder, name)));
    return isEntry(entry) && recordNameOf(entry) === name ? entry : undefined;
  } catch {
    return undefined;
  }
}

function discard(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // It is not there.
  }
}
