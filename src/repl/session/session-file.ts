import { closeSync, constants, rmSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { ChatError } from '../errors.ts';
import { makePrivateFolder, openToAppend } from '../files/private-file.ts';
import { takeLock } from './lock.ts';

/**
 * A session file that this process may write, until it is closed. A new one is made with the first thing that the
 * person says: a session that is opened and left leaves nothing.
 */
export class SessionFile {
  readonly path: string;
  #release: (() => void) | undefined;
  #opened: number | undefined;
  /** Lines of a file that is not made yet. */
  #waiting = '';
  /** The last line may have been cut, by a crash or a full disk: the next one must not be glued to it. */
  #before = '\n';

  /** `release`: gives back the lock of a file that is there. Throws SESSION_UNUSABLE. */
  constructor(path: string, release?: () => void) {
    this.path = path;
    this.#release = release;
    if (release) this.#opened = openToAppend(path, 0, 'SESSION_UNUSABLE');
  }

  get isMade(): boolean {
    return this.#release !== undefined;
  }

  /** Appends a line; `said`: something that the file is made for. Throws SESSION_UNUSABLE when it is not kept whole. */
  write(line: string, said: boolean): void {
    if (this.isMade) return this.#append(line);
    if (said) return this.#make(this.#waiting + line);
    this.#waiting += line;
    return undefined;
  }

  close(): void {
    if (this.#opened !== undefined) closeSync(this.#opened);
    this.#opened = undefined;
    this.#release?.();
  }

  #make(lines: string): void {
    const folder = dirname(this.path);
    // The folder above it first: either could have been put there by somebody else.
    for (const one of [dirname(folder), folder]) makePrivateFolder(one, 'SESSION_UNUSABLE');
    const release = takeLock(this.path);
    if (!release) throw failed(this.path, 'it is open in another window');
    try {
      this.#opened = openToAppend(this.path, constants.O_CREAT | constants.O_EXCL, 'SESSION_UNUSABLE');
      this.#before = '';
      this.#append(lines);
      this.#release = release;
    } catch (error) {
      if (this.#opened !== undefined) rmSync(this.path, { force: true });
      this.close();
      release();
      throw error;
    }
  }

  /** In one write. */
  #append(lines: string): void {
    // The number may belong to another file by now.
    if (this.#opened === undefined) throw failed(this.path, 'it was closed');
    const bytes = Buffer.from(this.#before + lines);
    this.#before = '\n';
    let written;
    try {
      written = writeSync(this.#opened, bytes);
    } catch (error) {
      throw failed(this.path, String((error as { code?: unknown }).code), { cause: error });
    }
    if (written < bytes.length) throw failed(this.path, 'the disk is full');
    this.#before = '';
  }
}

const failed = (path: string, why: string, options?: ErrorOptions): ChatError =>
  new ChatError(
    'SESSION_UNUSABLE',
    `${path} cannot be written: ${why}. What was said last is not kept.`,
    options,
  );
