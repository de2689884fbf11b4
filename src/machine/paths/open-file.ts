import { close, closeSync, fstat, fstatSync, openSync, read, readSync, type Stats } from 'node:fs';
import { promisify } from 'node:util';

const readSome = promisify(read);
const look = promisify(fstat);

/** Up to here a copy from the system's cache takes less time than handing it to another thread and back. */
const smallBytes = 64 * 1024;

/**
 * An open file or folder: what is used here of FileHandle in node:fs/promises, without a thread where none is needed. Each
 * call of that costs some 50 µs for going to another thread and back, ten times what the system takes.
 *
 * A file system that has no disk behind it (a network's, one in user space) may be slow to answer, so it is asked in
 * another thread all the same. Opening has just been preceded by a look at the path in another thread, so whatever it is
 * on answers.
 */
export class OpenFile {
  readonly fd: number;
  /** As it was right after opening. */
  readonly opened: Stats;
  readonly #isQuick: boolean;
  #isOpen = true;

  /** Throws the system's error. */
  constructor(path: string, flags: number) {
    this.fd = openSync(path, flags);
    try {
      this.opened = fstatSync(this.fd);
    } catch (error) {
      closeSync(this.fd);
      throw error;
    }
    this.#isQuick = isOnDisk(this.opened);
  }

  stat(): Promise<Stats> {
    return this.#isQuick ? Promise.resolve(fstatSync(this.fd)) : look(this.fd);
  }

  /** As fs.read(); fewer bytes than asked for only at the end of the file, or where the system likes to. */
  async read(
    buffer: Buffer,
    offset: number,
    length: number,
    position: number,
  ): Promise<{ bytesRead: number }> {
    if (this.#isQuick && length <= smallBytes)
      return { bytesRead: readSync(this.fd, buffer, offset, length, position) };
    return readSome(this.fd, buffer, offset, length, position);
  }

  /** All of it, or its first `most` bytes. */
  async readAll(most = Infinity): Promise<Buffer> {
    const pieces: Buffer[] = [];
    let length = 0;
    // One byte more than it had: what has grown, or says that it has 0 bytes, is read to its end.
    for (let wanted = Math.min(this.opened.size + 1, most); wanted > 0;) {
      const piece = Buffer.allocUnsafe(wanted);
      const { bytesRead } = await this.read(piece, 0, wanted, length);
      if (bytesRead === 0) break;
      pieces.push(piece.subarray(0, bytesRead));
      length += bytesRead;
      wanted = Math.min(bytesRead < wanted ? wanted - bytesRead : smallBytes, most - length);
    }
    return pieces.length === 1 && pieces[0] ? pieces[0] : Buffer.concat(pieces);
  }

  /** May be called again. What goes wrong with closing what was only read is nobody's loss. */
  close(): Promise<void> {
    if (this.#isOpen) {
      this.#isOpen = false;
      if (this.#isQuick) closeSync(this.fd);
      else close(this.fd, () => {});
    }
    return Promise.resolve();
  }
}

/** Linux gives file systems without a disk the major number 0. Elsewhere the number does not tell, so none counts. */
export const isOnDisk = ({ dev }: Pick<Stats, 'dev'>): boolean =>
  process.platform === 'linux' && (dev & 0xfff00) !== 0;
