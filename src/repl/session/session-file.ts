import { closeSync, constants, fstatSync, readSync, rmSync, writeSync } from 'node:fs';
import { ChatError } from '../errors.ts';
import { openToAppend } from '../files/private-file.ts';
import { takeLock, type Lock } from './lock.ts';

/** A session file that this process may write. */
export interface SessionFile {
  readonly path: string;
  /** Appends whole lines, in one write. Throws SESSION_UNUSABLE when they cannot be written, or not all of them. */
  write(lines: string): void;
  close(): void;
}

/** Makes the file with what it begins with. Throws SESSION_UNUSABLE when it cannot be written; then there is none. */
export function createFile(path: string, lines: string): SessionFile {
  const lock = takeLock(path);
  if (!lock) throw failed(path, 'it is open in another window');
  let file: SessionFile | undefined;
  try {
    file = openFile(path, lock, constants.O_CREAT | constants.O_EXCL);
    file.write(lines);
    return file;
  } catch (error) {
    file?.close();
    if (file) rmSync(path, { force: true });
    lock.release();
    throw error;
  }
}

/** Opens a file whose lock is held. `close` releases it. Throws SESSION_UNUSABLE. */
export function openFile(path: string, lock: Lock, flags = 0): SessionFile {
  const fd = openToAppend(path, flags, 'SESSION_UNUSABLE');
  const { size } = fstatSync(fd);
  const last = Buffer.alloc(1);
  /** The last line was cut, by a crash or a full disk: the next one must not be glued to it. */
  let torn = size > 0 && readSync(fd, last, 0, 1, size - 1) === 1 && last.toString() !== '\n';
  let open = true;
  return {
    path,
    write(lines) {
      // The number may belong to another file by now.
      if (!open) throw failed(path, 'it was closed');
      const bytes = Buffer.from(torn ? `\n${lines}` : lines);
      let written;
      try {
        written = writeSync(fd, bytes);
      } catch (error) {
        throw failed(path, String((error as { code?: unknown }).code), { cause: error });
      }
      if (written > 0) torn = written < bytes.length;
      if (torn) throw failed(path, 'the disk is full');
    },
    close() {
      if (!open) return;
      open = false;
      closeSync(fd);
      lock.release();
    },
  };
}

const failed = (path: string, why: string, options?: ErrorOptions): ChatError =>
  new ChatError(
    'SESSION_UNUSABLE',
    `${path} cannot be written: ${why}. What was said last is not kept.`,
    options,
  );
