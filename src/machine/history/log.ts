import { createHash, randomBytes } from 'node:crypto';
import { closeSync, constants, openSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ToolcribError } from '../../core/errors.ts';
import { createPrivate, discard, makePrivate, readPrivate } from '../folders.ts';
import { codeOf } from '../paths/real-path.ts';
import { changesIn, type Change } from './entry.ts';
import { noHistory } from './write-failure.ts';

/** SHA-256 in hexadecimal. */
export const sha256 = (bytes: Buffer | string): string => createHash('sha256').update(bytes).digest('hex');

const fileName = 'history.jsonl';
/** Bytes of lines about changes that came to nothing. */
const mostNotes = 256 * 1024;

/** What is kept of the changes below one root, in a private folder; nothing is made before something is kept. */
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
    try {
      appendLine(this.folder, fileName, { dropped: id });
    } catch {
      // A change too many is harmless.
    }
  }

  /** Keeps what a change is about to replace. Throws WRITE_FAILED. */
  keep(id: string, bytes: Buffer): void {
    this.#keeping(() => replacePrivate(this.kept, id, bytes));
  }

  /** Forgets all changes but those that are chosen, which it returns. Throws what the system says. */
  shorten(choose: (changes: readonly Change[]) => readonly Change[]): readonly Change[] {
    const { length } = readPrivate(this.folder, fileName) ?? '';
    const all = this.changes();
    const kept = choose(all);
    const lines = Buffer.from(linesOf(kept));
    // Most of it may be about commands that changed nothing.
    if (kept.length < all.length || length > 2 * lines.length + mostNotes) {
      const added = readPrivate(this.folder, fileName)?.subarray(length) ?? Buffer.alloc(0);
      replacePrivate(this.folder, fileName, Buffer.concat([lines, added]));
    }
    return kept;
  }

  /** Writes into the folder, which somebody may have removed. Throws WRITE_FAILED. */
  #keeping(write: () => void): void {
    const { folder } = this;
    try {
      for (const each of [dirname(dirname(folder)), dirname(folder), folder, this.kept])
        if (!makePrivate(each))
          throw noHistory(
            each,
            'is a symbolic link, belongs to another user, or is open to others (chmod 700 closes one that is yours)',
          );
      write();
    } catch (error) {
      throw error instanceof ToolcribError
        ? error
        : noHistory(folder, `cannot be written to (${codeOf(error)})`);
    }
  }
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

function replacePrivate(folder: string, name: string, bytes: Buffer): void {
  const temporary = join(folder, `.${randomBytes(8).toString('hex')}`);
  try {
    createPrivate(temporary, bytes);
    renameSync(temporary, join(folder, name));
  } catch (error) {
    discard(temporary);
    throw error;
  }
}
