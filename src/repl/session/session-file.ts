import { closeSync, constants, fstatSync, readSync, rmSync, writeSync } from 'node:fs';
import { ChatError } from '../errors.ts';
import { openToAppend } from '../files/private-file.ts';
import { takeLock } from './lock.ts';

/** A session file that this process may write, until it is closed and its lock given back. */
export class SessionFile {
  readonly path: string;
  readonly #release: () => void;
  readonly #opened: number;
  /** The last line was cut, by a crash or a full disk: the next one must not be glued to it. */
  #torn: boolean;
  #open = true;

  /** Opens a file whose lock is held. Throws SESSION_UNUSABLE. */
  constructor(path: string, release: () => void, flags = 0) {
    this.path = path;
    this.#release = release;
    this.#opened = openToAppend(path, flags, 'SESSION_UNUSABLE');
    const { size } = fstatSync(this.#opened);
    const last = Buffer.alloc(1);
    this.#torn = size > 0 && readSync(this.#opened, last, 0, 1, size - 1) === 1 && last.toString() !== '\n';
  }

  /** Appends whole lines, in one write. Throws SESSION_UNUSABLE when they cannot be written, or not all of them. */
  write(lines: string): void {
    // The number may belong to another file by now.
    if (!this.#open) throw failed(this.path, 'it was closed');
    const bytes = Buffer.from(this.#torn ? `\n${lines}` : lines);
    let written;
    try {
      written = writeSync(this.#opened, bytes);
    } catch (error) {
      throw failed(this.path, String((error as { code?: unknown }).code), { cause: error });
    }
    if (written > 0) this.#torn = written < bytes.length;
    if (this.#torn) throw failed(this.path, 'the disk is full');
  }

  close(): void {
    if (!this.#open) return;
    this.#open = false;
    closeSync(this.#opened);
    this.#release();
  }
}

/** Makes the file with what it begins with. Throws SESSION_UNUSABLE when it cannot be written; then there is none. */
export function createFile(path: string, lines: string): SessionFile {
  const release = takeLock(path);
  if (!release) throw failed(path, 'it is open in another window');
  let file: SessionFile | undefined;
  try {
    file = new SessionFile(path, release, constants.O_CREAT | constants.O_EXCL);
    file.write(lines);
    return file;
  } catch (error) {
    file?.close();
    if (file) rmSync(path, { force: true });
    release();
    throw error;
  }
}

const failed = (path: string, why: string, options?: ErrorOptions): ChatError =>
  new ChatError(
    'SESSION_UNUSABLE',
    `${path} cannot be written: ${why}. What was said last is not kept.`,
    options,
  );
