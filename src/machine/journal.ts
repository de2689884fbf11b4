import { readdirSync, renameSync, unlinkSync } from 'node:fs';
import { randomInt } from 'node:crypto';
import { dirname } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { Entry } from './change.ts';
import { claimsFolder, lockFolders, type HeldClaim } from './file-lock.ts';
import { isPrivate, makePrivate } from './folders.ts';
import { contentsFolder, createKeptContents, type KeptContents } from './kept-contents.ts';
import { addNotes, readNotes } from './note-file.ts';
import { codeOf } from './real-path.ts';
import { applySplice } from './splice.ts';
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
  /** Resolves when a change that begins now, in any process, gets a later name. */
  passed(at: number): Promise<void>;
  /** Notes down what is about to be done under a claim; again, when more is known of it. Throws WRITE_FAILED. */
  begin(claim: HeldClaim, entry: Entry): void;
  /** Files what was noted down: it has been done. Where it cannot be filed it is by the next process. */
  commit(claim: HeldClaim, entry: Entry): void;
  /** Notes down that it will not be done. */
  drop(claim: HeldClaim): void;
  /** The same as `commit` for a dead process. Throws what the system says. */
  commitFor(token: string, entry: Entry): void;
  /** The same as `drop`. */
  dropFor(token: string): void;
  /** What was noted down under a claim. */
  begun(token: string): Entry | undefined;
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

/** `ID.json`, or `ID.UNDONE.json` for one that takes another back: so the index needs no record to be read. */
const recordName = /^([0-9a-z]+-[0-9a-z]+)(?:\.([0-9a-z]+-[0-9a-z]+))?\.json$/;

/** What is noted in the place of a change that came to nothing. */
const nothing = {};

export function createJournal(folder: string): Journal {
  const records = recordsFolder(folder);
  const claimPath = (token: string) => `${claimsFolder(folder)}/${token}`;
  const contents = createKeptContents(folder);
  const isOpen = () => isPrivate(dirname(folder)) && isPrivate(folder);
  let last = 0;

  function file(token: string, { id, undoes }: Entry): void {
    renameSync(claimPath(token), `${records}/${id}${undoes === undefined ? '' : `.${undoes}`}.json`);
  }

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
            'is a symbolic link, belongs to another user, or can be written to by others',
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
      while (Date.now() <= at) await setImmediate();
    },

    begin: (claim, entry) => claim.note(entry),
    commit(claim, entry) {
      try {
        file(claim.token, entry);
      } catch {
        // The change has been made: to fail now would be a lie.
        claim.leave();
      }
    },
    drop: (claim) => claim.note(nothing),
    commitFor: file,
    dropFor(token) {
      const notes = addNotes(claimPath(token));
      notes.note(nothing);
      notes.close();
    },
    begun: (token) => entryIn(claimsFolder(folder), token),

    index() {
      const names = new Map<string, string>();
      const undoneBy = new Map<string, string>();
      for (const name of isOpen() ? namesIn(records) : []) {
        const [, id, undoes] = recordName.exec(name) ?? [];
        if (id !== undefined) names.set(id, name);
        if (id !== undefined && undoes !== undefined) undoneBy.set(undoes, id);
      }
      return {
        ids: [...names.keys()].sort().toReversed(),
        undoneBy,
        names,
        entry(id) {
          const name = names.get(id);
          return name === undefined ? undefined : entryIn(records, name);
        },
      };
    },

    forget(id, { names }) {
      const name = names.get(id);
      if (name !== undefined) discard(`${records}/${name}`);
    },

    async contentAfter({ before, splice }) {
      if (!splice) return undefined;
      const from = before ? await contents.content(before.hash ?? '') : Buffer.alloc(0);
      return from && applySplice(from, splice);
    },

    trashOf: (id) => `${trashFolder(folder)}/${id}`,
  };
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    // Nothing has been changed yet.
    return [];
  }
}

/** The last of the notes that follow a claim. A record that is damaged, after a loss of power, is the same as none. */
function entryIn(folder: string, name: string): Entry | undefined {
  const entry = readNotes(folder, name).findLast((note, at) => at > 0 && note !== undefined);
  return typeof entry === 'object' && entry !== null && 'step' in entry ? (entry as Entry) : undefined;
}

function discard(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // It is not there.
  }
}
