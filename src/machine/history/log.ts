import { createHash, randomBytes } from 'node:crypto';
import { lstatSync, lutimesSync, readdirSync, renameSync } from 'node:fs';
import { rm, unlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createPrivate, discard, isPrivate, makePrivate, readPrivate } from '../folders.ts';
import { isInside } from '../paths/inside.ts';
import { codeOf } from '../paths/real-path.ts';
import { changesIn, type Change } from './entry.ts';
import { appendLine, linesOf, parseLines, readLines } from './json-lines.ts';
import { noHistory } from './write-failure.ts';

/** What is kept of the changes below one root, in a private folder. */
export interface Log {
  readonly folder: string;
  /** Oldest first; only those of the last lines, where so many are asked for. */
  changes(last?: number): Change[];
  /** Throws WRITE_FAILED; then the change must not be made. */
  append(change: Change): void;
  /** Says that a change which was noted down came to nothing. */
  drop(id: string): void;
  /** Says what a command left. */
  close(id: string, after: string, files: number): void;
  /** Keeps a content under its hash. Throws WRITE_FAILED. */
  keep(hash: string, bytes: Buffer): Promise<void>;
  /** Undefined when it is not kept, or is no longer what it was. */
  content(hash: string): Buffer | undefined;
  /** Where what was removed by a change is kept. */
  trashOf(id: string): string;
}

export interface Limits {
  /** For what was deleted, and as much again for what was replaced. */
  readonly quotaBytes: number;
  readonly mostChanges: number;
}

const logName = 'history.jsonl';
/** What is younger may belong to a change that another server is making. */
const youngMs = 60_000;
/** Bytes of lines about changes that came to nothing. */
const mostNotes = 256 * 1024;

/** SHA-256 in hexadecimal. */
export const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

/** The log of a root, or of what is below it; nothing is made before something is kept. */
export function logOf(root: string, histories: string): Log {
  const folder = join(histories, createHash('sha256').update(root).digest('hex').slice(0, 32));
  const [contents, trash] = [join(folder, 'contents'), join(folder, 'trash')];

  /** Also later on: somebody may have removed it. Throws WRITE_FAILED. */
  function open(): void {
    if (isPrivate(folder) && isPrivate(contents)) return;
    for (const each of [dirname(histories), histories, folder, contents, trash]) {
      const isOurs = orNoHistory(each, () => makePrivate(each));
      if (!isOurs)
        throw noHistory(
          each,
          'is a symbolic link, belongs to another user, or is open to others (chmod 700 closes one that is yours)',
        );
    }
    if (!readPrivate(folder, 'root')) orNoHistory(folder, () => createPrivate(join(folder, 'root'), root));
  }

  function addNote(note: object): void {
    try {
      appendLine(join(folder, logName), note);
    } catch {
      // A change too many, or a command that seems to run, is harmless.
    }
  }

  return {
    folder,
    changes: (last) => changesIn(readLines(folder, logName, last)),
    append(change) {
      open();
      orNoHistory(folder, () => appendLine(join(folder, logName), change));
    },
    drop: (id) => addNote({ dropped: id }),
    close: (id, after, files) => addNote({ ended: id, after, files }),
    async keep(hash, bytes) {
      open();
      const path = join(contents, hash);
      const found = lstatSync(path, { throwIfNoEntry: false });
      // Young again: nobody tidies it away before the change is noted down.
      if (found?.isFile() && found.size === bytes.length) return lutimesSync(path, new Date(), new Date());
      const temporary = join(contents, `.${randomBytes(8).toString('hex')}`);
      try {
        await writeFile(temporary, bytes, { flag: 'wx', mode: 0o600 });
        renameSync(temporary, path);
      } catch (error) {
        discard(temporary);
        throw noHistory(folder, `cannot be written to (${codeOf(error)})`);
      }
    },
    content(hash) {
      const bytes = readPrivate(contents, hash);
      return bytes && sha256(bytes) === hash ? bytes : undefined;
    },
    trashOf: (id) => join(trash, id),
  };
}

function orNoHistory<T>(folder: string, act: () => T): T {
  try {
    return act();
  } catch (error) {
    throw noHistory(folder, `cannot be written to (${codeOf(error)})`);
  }
}

/** The logs of what lies inside some roots, or holds one. */
export function logsFor(roots: readonly string[], histories: string): Log[] {
  return namesIn(histories).flatMap((name) => {
    const root = readPrivate(join(histories, name), 'root')?.toString();
    const log = root === undefined ? undefined : logOf(root, histories);
    const concerns = roots.some((one) => root !== undefined && (isInside(one, root) || isInside(root, one)));
    return log && concerns && log.folder === join(histories, name) ? [log] : [];
  });
}

/**
 * Forgets what is too many or too large, then what no change needs any more. What was deleted and what was replaced
 * have a quota each, so that no number of edits pushes out what was deleted; the newest have their place first. Never
 * by age: a clock that was wrong would empty the list.
 */
export async function pruneLog(log: Log, { quotaBytes, mostChanges }: Limits): Promise<void> {
  const path = join(log.folder, logName);
  const all = log.changes();
  const before = lstatSync(path, { throwIfNoEntry: false })?.size ?? 0;
  const used = { deleted: 0, replaced: 0 };
  const kept = all.toReversed().filter((change, at) => {
    const quota = change.step === 'remove' ? 'deleted' : 'replaced';
    const bytes = used[quota] + (change.before?.size ?? 0);
    const fits = at === 0 || (bytes <= quotaBytes && at < mostChanges);
    if (fits) used[quota] = bytes;
    return fits;
  });
  const lines = linesOf(kept.toReversed());
  // Most of it may be commands that changed nothing.
  if (kept.length < all.length || before > 2 * lines.length + mostNotes) {
    const temporary = join(log.folder, `.${randomBytes(8).toString('hex')}`);
    // What another server has added since goes along.
    const added = readPrivate(log.folder, logName)?.subarray(before).toString() ?? '';
    createPrivate(temporary, lines + linesOf(parseLines(added)));
    renameSync(temporary, path);
  }
  const needed = new Set(kept.flatMap((change) => [change.id, change.before?.hash]));
  for (const folder of ['contents', 'trash']) {
    for (const name of namesIn(join(log.folder, folder))) {
      const unused = join(log.folder, folder, name);
      const age = Date.now() - (lstatSync(unused, { throwIfNoEntry: false })?.ctimeMs ?? Infinity);
      if (needed.has(name) || Math.abs(age) < youngMs) continue;
      await (folder === 'trash' ? rm(unused, { recursive: true, force: true }) : unlink(unused));
    }
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    // Nothing has been changed yet.
    return [];
  }
}
