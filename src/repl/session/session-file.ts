import { closeSync, constants, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { ChatError } from '../errors.ts';
import { makeSessionFolder, openSessionFile } from '../files/chat-files.ts';
import { lineWithoutImages } from './kept-images.ts';

/**
 * A session file that this process alone may write, until it is closed. A new one is made with the first
 * thing that the person says: a session that is opened and left leaves nothing.
 */
export class SessionFile {
  readonly path: string;
  isMade = false;
  #opened: number | undefined;
  /** Lines of a file that is not made yet. */
  #waiting = '';
  /** The last line may have been cut, by a crash or a full disk: the next one must not be glued to it. */
  #before = '';

  /** `isThere`: it is there, and locked for us. Throws SESSION_UNUSABLE. */
  constructor(path: string, isThere = false) {
    this.path = path;
    this.isMade = isThere;
    if (!isThere) return;
    this.#opened = openSessionFile(path, 0);
    this.#before = '\n';
  }

  /**
   * Appends a line; `said`: something that the file is made for. Throws SESSION_UNUSABLE when it is not kept
   * whole.
   */
  write(value: object, said: boolean): void {
    const line = lineWithoutImages(value, this.path);
    if (this.isMade) this.#append(`${line}\n`);
    else if (said) this.#make(`${this.#waiting}${line}\n`);
    else this.#waiting += `${line}\n`;
  }

  close(): void {
    if (this.#opened === undefined) return;
    closeSync(this.#opened);
    this.#opened = undefined;
    unlock(this.path);
  }

  #make(lines: string): void {
    const folder = dirname(this.path);
    // The folder above it first: either could have been put there by somebody else.
    for (const one of [dirname(folder), folder]) makeSessionFolder(one);
    if (!lock(this.path)) throw failed(this.path, 'it is open in another window');
    try {
      this.#opened = openSessionFile(this.path, constants.O_CREAT | constants.O_EXCL);
      this.#append(lines);
      this.isMade = true;
    } catch (error) {
      if (this.#opened !== undefined) rmSync(this.path, { force: true });
      this.close();
      unlock(this.path);
      throw error;
    }
  }

  /** Appends lines in one write. */
  #append(lines: string): void {
    // The number may belong to another file by now.
    if (this.#opened === undefined) throw failed(this.path, 'it was closed');
    const bytes = Buffer.from(this.#before + lines);
    this.#before = '\n';
    let written;
    try {
      written = writeSync(this.#opened, bytes);
    } catch (error) {
      throw failed(this.path, String((error as { code?: unknown }).code), error);
    }
    if (written < bytes.length) throw failed(this.path, 'the disk is full');
    this.#before = '';
  }
}

function failed(path: string, why: string, cause?: unknown): ChatError {
  const text = `${path} cannot be written: ${why}. What was said last is not kept.`;
  return new ChatError('SESSION_UNUSABLE', text, { cause });
}

/**
 * Takes the right to write a session: `<file>.lock`, which says which process has it. False when one that
 * lives has it; the lock of one that is gone is taken over.
 */
export function lock(file: string): boolean {
  if (isLocked(file)) return false;
  unlock(file);
  try {
    writeFileSync(`${file}.lock`, `${process.pid}\n`, { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    // Another one was faster.
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

export const unlock = (file: string): void => rmSync(`${file}.lock`, { force: true });

/** Tells whether a process that lives has the session open. */
export function isLocked(file: string): boolean {
  try {
    const pid = Number(readFileSync(`${file}.lock`, 'utf8'));
    // In a container, one that was killed had the same number as we have.
    return pid > 0 && pid !== process.pid && process.kill(pid, 0);
  } catch (error) {
    // No lock, or no such process; one of somebody else's lives.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
