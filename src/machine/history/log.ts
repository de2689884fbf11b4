import { createHash, randomBytes } from 'node:crypto';
import { readdirSync, renameSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createPrivate, discard, makePrivate, readPrivate } from '../folders.ts';
import { ToolcribError } from '../../core/errors.ts';
import { isInside } from '../paths/inside.ts';
import { codeOf } from '../paths/real-path.ts';
import { changesIn, type Change } from './entry.ts';
import { appendLine, readLines } from './json-lines.ts';
import { noHistory } from './write-failure.ts';

/** What is kept of the changes below one root, in a private folder. */
export interface Log {
  readonly folder: string;
  /** Oldest first. */
  changes(): Change[];
  /** Throws WRITE_FAILED; then the change must not be made. */
  append(change: Change): void;
  /** Says that a change which was noted down came to nothing. */
  drop(id: string): void;
  /** Keeps a content under its hash. Throws WRITE_FAILED. */
  keep(hash: string, bytes: Buffer): void;
  /** Undefined when it is not kept, or is no longer what it was. */
  content(hash: string): Buffer | undefined;
  /** Where what was removed by a change is kept. */
  trashOf(id: string): string;
}

export const logName = 'history.jsonl';

/** SHA-256 in hexadecimal. */
export const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

/** The log of a root, or of what is below it; nothing is made before something is kept. */
export function logOf(root: string, histories: string): Log {
  const folder = join(histories, createHash('sha256').update(root).digest('hex').slice(0, 32));
  const [contents, trash] = [join(folder, 'contents'), join(folder, 'trash')];

  /** Writes into the folder, which somebody may have removed. Throws WRITE_FAILED. */
  function keeping(write: () => void): void {
    try {
      for (const each of [dirname(histories), histories, folder, contents, trash])
        if (!makePrivate(each))
          throw noHistory(
            each,
            'is a symbolic link, belongs to another user, or is open to others (chmod 700 closes one that is yours)',
          );
      if (!readPrivate(folder, 'root')) createPrivate(join(folder, 'root'), root);
      write();
    } catch (error) {
      throw error instanceof ToolcribError
        ? error
        : noHistory(folder, `cannot be written to (${codeOf(error)})`);
    }
  }

  return {
    folder,
    changes: () => changesIn(readLines(folder, logName)),
    append: (change) => keeping(() => appendLine(join(folder, logName), change)),
    drop(id) {
      try {
        appendLine(join(folder, logName), { dropped: id });
      } catch {
        // A change too many is harmless.
      }
    },
    keep: (hash, bytes) =>
      keeping(() => {
        const temporary = join(contents, `.${randomBytes(8).toString('hex')}`);
        try {
          createPrivate(temporary, bytes);
          renameSync(temporary, join(contents, hash));
        } catch (error) {
          discard(temporary);
          throw error;
        }
      }),
    content(hash) {
      const bytes = readPrivate(contents, hash);
      return bytes && sha256(bytes) === hash ? bytes : undefined;
    },
    trashOf: (id) => join(trash, id),
  };
}

/** The logs of what lies inside some roots, or holds one. */
export function logsFor(roots: readonly string[], histories: string): Log[] {
  return namesIn(histories).flatMap((name) => {
    const root = readPrivate(join(histories, name), 'root')?.toString();
    if (root === undefined || !roots.some((one) => isInside(one, root) || isInside(root, one))) return [];
    const log = logOf(root, histories);
    return log.folder === join(histories, name) ? [log] : [];
  });
}

export function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    // Nothing has been changed yet.
    return [];
  }
}
