import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { ToolcribError } from '../../core/errors.ts';
import { changeOf, type Change } from './change.ts';
import { finishDead } from './change-recovery.ts';
import { temporaryName, type ChangeKit } from './change-kit.ts';
import { createCarryOver } from './extended-attributes.ts';
import { createFileLocks } from './file-lock.ts';
import { createJournal } from './journal.ts';
import { needsPruning, pruneJournal, type Limits } from './journal-pruning.ts';
import { isInside } from '../paths/inside.ts';
import type { Place } from '../paths/place.ts';
import type { Run } from '../processes/process.ts';
import { gone, relocateChange, type Look } from './relocate-change.ts';
import { isInRoots, undoChange, type Undone, type UndoOptions } from './undo-change.ts';
import { writeChange, type About, type Decide, type Written } from './write-change.ts';
import { createSpareBuffer } from './spare-buffer.ts';
import { createWrittenFiles } from './written-files.ts';

export type { Change, Facts } from './change.ts';
export { sha256 } from './sha256.ts';
export type { Undone } from './undo-change.ts';
export type { About, Before, Decide, Decision, Written } from './write-change.ts';

export interface ChangeList {
  /** Newest first. */
  readonly changes: readonly Change[];
  /** Pass as `before` for those that follow; undefined at the end. */
  readonly next?: string;
}

export interface ChangeQuery {
  /** Only changes with all their paths in these. */
  readonly roots: readonly string[];
  /** Only those at this real path, or below it. */
  readonly path?: string | undefined;
  readonly limit: number;
  readonly before?: string | undefined;
}

/**
 * The one way to change files: each change takes effect whole or not at all, whenever the process is ended; what was there
 * before is kept in a journal; and no two calls or processes of this user change one path at a time.
 *
 * Failures are a ToolcribError, and then nothing has changed: PATH_DENIED, PATH_EXISTS, PATH_NOT_FOUND, PATH_NOT_REGULAR,
 * STALE_FILE (another program was at it meanwhile), TOO_LARGE, CANCELLED, and WRITE_FAILED (the disk is full, another
 * process does not finish, no journal can be kept).
 */
export interface FileChanges {
  /**
   * Reads a file (undefined when there is none), lets `decide` say what it is to be, and replaces it in one step.
   * Undefined when that is nothing else than it is, or nothing; what `decide` throws is thrown. Mode, owner and
   * extended attributes stay.
   */
  write(place: Place, decide: Decide, about: About): Promise<Written | undefined>;
  /** Moves a file, link or folder into the journal; `look` may still refuse by throwing. */
  remove(place: Place, about?: Partial<About>, look?: Look): Promise<Change>;
  /** Moves a file, link or folder, never onto something. */
  move(from: Place, to: Place, about?: Partial<About>): Promise<Change>;
  /** Changes nothing, not even what processes left that died. */
  list(query: ChangeQuery): Promise<ChangeList>;
  /**
   * Takes a change back, when what it left is still there; that is a change itself. Throws NOT_FOUND for one that is
   * unknown, expired, not in the roots, or undone already, and what changing throws.
   */
  undo(id: string, options: UndoOptions): Promise<Undone>;
  /** What a file was before or after some change. */
  content(hash: string): Promise<Buffer | undefined>;
  /** Finishes or discards what processes left that died. Done before the first change anyway. */
  recover(): Promise<void>;
}

export interface FileChangesOptions extends Partial<Limits> {
  /** The state folder of this user; without one every change is refused. */
  readonly folder: string | undefined;
  /** Starts cp(1), for extended attributes on Linux; without it they are not kept there. */
  readonly run?: Run;
  readonly mostBytes?: number;
}

const dayMs = 24 * 3_600_000;
const gigabyte = 1024 ** 3;
/** A larger file is no text that somebody wrote, and all of it has to be in memory. */
export const mostChangedBytes = 64 * 1024 * 1024;
/** After so many changes it is looked whether the journal has grown too large. */
const pruneEvery = 500;
const mostRecent = 200;
/** So many records are made at once, which takes some milliseconds, or those that there are after a while. */
const fileAtOnce = 64;
const filingMs = 250;

/** Touches nothing before it is used. */
export function createFileChanges({ folder, run, ...limits }: FileChangesOptions): FileChanges {
  return folder === undefined ? withoutJournal() : withJournal(folder, run, limits);
}

function withJournal(
  folder: string,
  run: Run | undefined,
  options: Omit<FileChangesOptions, 'folder' | 'run'>,
): FileChanges {
  const {
    quotaBytes = gigabyte,
    expiryMs = 14 * dayMs,
    mostChanges = 50_000,
    mostBytes = mostChangedBytes,
  } = options;
  const limits: Limits = { quotaBytes, expiryMs, mostChanges };
  const journal = createJournal(join(folder, 'journal'));
  const locks = createFileLocks(journal.folder, (token) => finishDead(journal, token));
  const kit: ChangeKit = {
    journal,
    locks,
    carryOver: createCarryOver(run),
    written: createWrittenFiles(),
    spare: createSpareBuffer(),
    mostBytes: Math.min(mostBytes, quotaBytes),
    limits,
    temporaryName,
  };
  /** Changes that were made a moment ago, by the content they left. */
  const recent = new Map<string, Change['id']>();
  let isReady = false;
  let sincePruned = 0;
  let addedBytes = 0;
  let unfiled = 0;

  /** Also later on: the folder may have been removed, or a process may have died. */
  async function prepare({ settle }: { settle: boolean }): Promise<void> {
    const isOpen = isReady && journal.isOpen();
    if (!isOpen) journal.open();
    if (!isOpen || settle) await locks.settleDead();
    isReady = true;
  }

  async function changing<T>(work: () => Promise<T>): Promise<T> {
    await prepare({ settle: false });
    return work();
  }

  function made<C extends Change | undefined>(change: C): C {
    if (!change) return change;
    if (change.after?.hash) remember(change.after.hash, change.id);
    addedBytes += change.before?.size ?? 0;
    const isDue =
      sincePruned++ === 0
        ? needsPruning(journal.folder)
        : sincePruned > pruneEvery || addedBytes > quotaBytes / 8;
    if (isDue) prune();
    // Not while calls follow each other: making a file would hold up the next.
    if (++unfiled % fileAtOnce === 0) void setImmediate().then(fileOwn);
    else if (unfiled % fileAtOnce === 1) setTimeout(fileOwn, filingMs).unref();
    return change;
  }

  /** Until then, and when it fails, the changes are found where they were noted down. */
  function fileOwn(): void {
    try {
      if (locks.fileOwn(journal.file)) unfiled = 0;
    } catch {
      // The disk is full, or the journal is gone.
    }
  }

  function remember(hash: string, id: string): void {
    recent.delete(hash);
    recent.set(hash, id);
    const [oldest] = recent.keys();
    if (recent.size > mostRecent && oldest !== undefined) recent.delete(oldest);
  }

  /** Never waited for: no answer depends on it. */
  function prune(): void {
    sincePruned = 1;
    addedBytes = 0;
    void setImmediate()
      .then(() => {
        fileOwn();
        return pruneJournal(journal, locks, limits);
      })
      // It is tried again later, here or by another process.
      .catch(() => {});
  }

  return {
    write: (place, decide, about) =>
      changing(async () => {
        const written = await writeChange(kit, place, decide, about);
        made(written?.change);
        return written;
      }),
    remove: (from, about, look) =>
      changing(async () =>
        made(await relocateChange(kit, { from, about: { kind: 'delete', ...about }, ...(look && { look }) })),
      ),
    move: (from, to, about) =>
      changing(async () => made(await relocateChange(kit, { from, to, about: { kind: 'move', ...about } }))),
    undo: (id, undoing) =>
      changing(async () => {
        await locks.settleDead();
        const undone = await undoChange(kit, id, undoing);
        if (undone.state === 'done') made(undone.change);
        return undone;
      }),

    async list({ roots, path, limit, before }) {
      // Looking makes no folders, and finishes nothing: a server that may only look must not change any root.
      const index = journal.index();
      const changes: Change[] = [];
      let read = 0;
      for (const id of index.ids) {
        if (before !== undefined && id >= before) continue;
        if (++read % 50 === 0) await setImmediate();
        const entry = index.entry(id);
        if (!entry || entry.at < Date.now() - expiryMs || !isInRoots(entry, roots)) continue;
        if (path !== undefined && ![entry.path, entry.to ?? entry.path].some((each) => isInside(each, path)))
          continue;
        if (changes.length === limit) return { changes, next: changes.at(-1)?.id ?? id };
        changes.push(changeOf(entry, index.undoneBy.get(id)));
      }
      return { changes };
    },

    async content(hash) {
      const kept = await journal.contents.content(hash).catch(() => undefined);
      const id = recent.get(hash);
      if (kept || id === undefined) return kept;
      const entry = journal.index().entry(id);
      return entry && journal.contentAfter(entry);
    },

    recover: () => prepare({ settle: true }),
  };
}

function withoutJournal(): FileChanges {
  const refuse = () =>
    Promise.reject(
      new ToolcribError(
        'WRITE_FAILED',
        'Nothing was changed, because the change could not be kept for undoing: no folder of this user is known.',
        'Set HOME or XDG_STATE_HOME (on Windows LOCALAPPDATA) to an absolute path.',
      ),
    );
  return {
    write: refuse,
    remove: refuse,
    move: refuse,
    undo: (id) => Promise.reject(gone({ undoes: id })),
    list: () => Promise.resolve({ changes: [] }),
    content: () => Promise.resolve(undefined),
    recover: () => Promise.resolve(),
  };
}
