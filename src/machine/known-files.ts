import { hash } from 'node:crypto';
import type { Dirent, Stats } from 'node:fs';

/** A text that stays the same as long as nobody changes the file: its device, inode, size and times. */
export const versionOf = ({ dev, ino, size, mtimeMs, ctimeMs }: Stats): string =>
  [dev, ino, size, mtimeMs, ctimeMs].join(' ');

/** A byte offset in a file, and the number of the line that it lies in. */
export interface LineMark {
  readonly line: number;
  readonly at: number;
}

/** The state of a file when it was last read or written through toolcrib. */
export interface KnownFile {
  readonly version: string;
  /** The SHA-256 of the whole file in hexadecimal; undefined when only a part was read. */
  readonly hash?: string | undefined;
  /** The encoding of the text, when the caller chose one or it is not UTF-8. */
  readonly encoding?: string | undefined;
  /** Marks in a large file, in ascending order, so that a line is not searched from the beginning again. */
  readonly marks?: LineMark[] | undefined;
  /** The content of a small file, so that later changes can be described. */
  readonly bytes?: Buffer | undefined;
}

/** The most files that are remembered, and the size up to which content is kept: 16 MB at worst. */
const mostFiles = 1000;
const mostBytes = 16 * 1024;

/**
 * The files that this process read or wrote last, by real absolute path. They decide whether a file may be
 * overwritten.
 */
export class KnownFiles {
  readonly #files = new Map<string, KnownFile>();
  readonly #refused = new Set<string>();

  get(path: string): KnownFile | undefined {
    return this.#files.get(path);
  }

  remember(path: string, { bytes, ...file }: KnownFile): void {
    this.forget(path);
    const isKept = bytes !== undefined && bytes.length <= mostBytes;
    // The bytes may be part of a larger buffer, which would stay alive without this copy.
    this.#files.set(path, isKept ? { ...file, bytes: Buffer.from(bytes) } : file);
    const [oldest] = this.#files.keys();
    if (this.#files.size > mostFiles && oldest !== undefined) this.forget(oldest);
  }

  forget(path: string): void {
    this.#files.delete(path);
  }

  /** True where the same call was refused before. Remembers the call as refused. */
  wasRefused(path: string, call: string): boolean {
    const key = hash('sha256', `${path}\0${call}`, 'base64');
    if (this.#refused.has(key)) return true;
    if (this.#refused.size >= mostFiles) this.#refused.clear();
    this.#refused.add(key);
    return false;
  }
}

/** The content of a folder, as a listing found it. */
export interface Listing {
  /**
   * Entries of the folder or paths below it, unconverted: making thousands of objects takes longer than
   * reading the folder.
   */
  readonly items: readonly (Dirent | string)[];
  readonly notes: readonly string[];
  isIgnored?(name: string, isFolder: boolean): boolean;
}
