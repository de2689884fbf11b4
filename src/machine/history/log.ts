import { createHash } from 'node:crypto';
import { closeSync, constants, linkSync, lstatSync, openSync, readdirSync, realpathSync } from 'node:fs';
import { writeFileSync, type Stats } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ToolcribError } from '../../core/errors.ts';
import { discard, makePrivate, readPrivate, replacePrivate } from '../../store/own-files.ts';
import { isInside } from '../paths/inside.ts';
import { codeOf } from '../paths/real-path.ts';
import { changesIn, type Change } from './entry.ts';
import { gone, noHistory } from './failures.ts';

/** SHA-256 in hexadecimal. */
export const sha256 = (bytes: Buffer | string): string => createHash('sha256').update(bytes).digest('hex');

const fileName = 'history.jsonl';
/** Bytes of lines about changes that came to nothing. */
const mostNotes = 256 * 1024;
/** So many of the last changes may have been on their way when their process was killed. */
const mostUnderway = 200;
/** The age below which a file may belong to a change that another server is making. */
const youngMs = 60_000;
/** For what was deleted or replaced. */
export const mostKeptBytes = 1024 ** 3;

/** The log of the changes below one root, in a private folder; nothing is made before something is kept. */
export class Log {
  readonly root: string;
  readonly folder: string;
  /** Here is what was replaced or removed, under the id of the change. */
  readonly kept: string;

  constructor(root: string, histories: string) {
    this.root = root;
    this.folder = join(histories, sha256(root).slice(0, 32));
    this.kept = join(this.folder, 'kept');
  }

  /** Oldest first. */
  changes(): Change[] {
    return changesIn(readLines(this.folder, fileName));
  }

  /** Throws WRITE_FAILED; then the change must not be made. */
  append(change: Change): void {
    this.#keeping(() => appendLine(this.folder, fileName, change));
  }

  /** Says that a change which was noted down came to nothing. */
  drop(id: string): void {
    discard(join(this.kept, id));
    try {
      appendLine(this.folder, fileName, { dropped: id });
    } catch {
      // A change too many is harmless.
    }
  }

  /**
   * Keeps the file that a change is about to replace: the file itself by another name, since it is on the
   * disk already; its bytes, where it has a name by which it could still be changed, or lies on another disk.
   * Throws WRITE_FAILED.
   */
  keep(id: string, at: string, { bytes, stat }: { readonly bytes: Buffer; readonly stat: Stats }): void {
    this.#keeping(() => {
      if (stat.nlink > 1 || !isLinked(at, stat, join(this.kept, id))) replacePrivate(this.kept, id, bytes);
    });
  }

  /**
   * Removes what killed processes have left beside files, forgets what is too many or too large, then what no
   * change needs any more. Never throws: what could not be done is tried again later.
   */
  tidy(mostChanges: number): void {
    try {
      for (const change of this.changes().slice(-mostUnderway)) this.#removeTemporary(change);
      const all = this.changes();
      const fitting = fittingChanges(all, mostChanges);
      const lines = linesOf(fitting);
      const { length } = readPrivate(this.folder, fileName) ?? '';
      // Most of it may be about commands that changed nothing.
      if (fitting.length < all.length || length > 2 * lines.length + mostNotes)
        replacePrivate(this.folder, fileName, lines);
      const needed = new Set(fitting.flatMap(({ id, kept }) => [id, kept]));
      for (const unused of readdirSync(this.kept).filter((name) => !needed.has(name))) {
        const { ctimeMs } = lstatSync(join(this.kept, unused));
        // Nothing waits for a large folder to go; what stays is tried again.
        if (Math.abs(Date.now() - ctimeMs) > youngMs)
          void rm(join(this.kept, unused), { recursive: true, force: true }).catch(() => {});
      }
    } catch {
      // A full disk, or a folder that somebody has removed.
    }
  }

  /** A file that is called as ours are, of a process that is gone. */
  #removeTemporary({ id, path, to, temporary, pid }: Change): void {
    const folder = dirname(to ?? path);
    const left = join(folder, temporary);
    const isOurs = isInside(left, this.root) && lstatSync(left, { throwIfNoEntry: false })?.isFile();
    // Behind a link by now there is nothing of ours.
    if (!isOurs || isAlive(pid) || realpathSync.native(folder) !== folder) return;
    discard(left);
    this.drop(id);
  }

  /** Writes into the folder, which somebody may have removed. Throws WRITE_FAILED. */
  #keeping(write: () => void): void {
    const { folder } = this;
    try {
      for (const each of [dirname(dirname(folder)), dirname(folder), folder, this.kept])
        if (!makePrivate(each))
          throw noHistory(
            each,
            'is a symbolic link, belongs to another user, or is open to others (chmod 700 closes ' +
              'one that is yours)',
          );
      write();
    } catch (error) {
      if (error instanceof ToolcribError) throw error;
      throw noHistory(folder, `cannot be written to (${codeOf(error)})`);
    }
  }
}

/** Gives a file another name, when it is still the one that was read. */
function isLinked(at: string, { dev, ino }: Stats, name: string): boolean {
  try {
    linkSync(at, name);
    const found = lstatSync(name);
    if (found.dev === dev && found.ino === ino) return true;
    discard(name);
  } catch {
    // Another disk, one without such names, or a file of somebody else.
  }
  return false;
}

/** Adds a line to a private file, also behind one that was cut short. Throws what the system says. */
export function appendLine(folder: string, name: string, value: unknown): void {
  // A FIFO must neither block nor take the lines.
  const { O_WRONLY, O_APPEND, O_CREAT, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
  const fd = openSync(join(folder, name), O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o600);
  try {
    writeFileSync(fd, linesOf([value]));
  } finally {
    closeSync(fd);
  }
}

/** Oldest first, without what was cut short; a file that cannot be read has no lines. */
export function readLines(folder: string, name: string): unknown[] {
  const lines = readPrivate(folder, name)?.toString().split('\n') ?? [];
  return lines.flatMap((line) => {
    try {
      return line === '' ? [] : [JSON.parse(line) as unknown];
    } catch {
      return [];
    }
  });
}

const linesOf = (values: readonly unknown[]): string =>
  values.map((value) => `\n${JSON.stringify(value)}`).join('');

/** The newest have their place first. Never by age: a clock that was wrong would empty the list. */
function fittingChanges(all: readonly Change[], mostChanges: number): Change[] {
  let used = 0;
  const fitting = all
    .slice(-mostChanges)
    .toReversed()
    .filter(({ before }) => (used += before?.size ?? 0) <= mostKeptBytes);
  return fitting.toReversed();
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
}

/** Which changes are meant: the last ones, all since one and it as well, or all that can be taken back. */
export interface Selection {
  readonly last?: number | undefined;
  readonly since?: string | undefined;
  /** Only these real paths, or what is below them; all when empty. */
  readonly paths: readonly string[];
}

/** A change, and where it is kept. */
export interface Logged {
  readonly log: Log;
  readonly change: Change;
}

/**
 * The changes with all their paths in the roots that a selection could mean, newest first. `last` counts
 * acts, and is about what was changed, not about what took it back; `since` goes back to how things were, so
 * neither a change nor the undo of it is taken back when both are meant. Which paths a command has changed is
 * not looked at. Throws NOT_FOUND for an id that is none.
 */
export function selectIn(
  logs: readonly Log[],
  { last, since, paths }: Selection,
  roots: readonly string[],
): Logged[] {
  const all = logs
    .flatMap((log) => log.changes().map((change) => ({ log, change })))
    .filter(({ change: { path, to = path } }) =>
      [path, to].every((each) => roots.some((root) => isInside(each, root))),
    );
  // Those of one root are in the order they were made in, whatever the clock said.
  if (logs.length > 1) all.sort((a, b) => a.change.at - b.change.at);
  const from = since === undefined ? 0 : all.findIndex(({ change }) => change.id === since);
  if (from < 0) throw gone(since);
  const range = all.slice(from).toReversed();
  const ids = new Set(range.map(({ change }) => change.id));
  // Whoever takes one back comes after it, and counts unless it was taken back itself.
  const undone = new Set<string>();
  return range.filter(({ change: { id, kind, undoes = '', part, path, to = path, states } }) => {
    if (undone.has(id)) return false;
    if (!part) undone.add(undoes);
    const isMeant = last === undefined ? since === undefined || !ids.has(undoes) : !/^undo\b/.test(kind);
    return isMeant && (states !== undefined || isConcerned(path, paths) || isConcerned(to, paths));
  });
}

/** True for a path that is, or lies in, one of those that are asked for. */
export const isConcerned = (path: string, paths: readonly string[]): boolean =>
  paths.length === 0 || paths.some((each) => isInside(path, each));
