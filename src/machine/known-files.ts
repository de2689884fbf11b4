import { hash } from 'node:crypto';
import type { Dirent, Stats } from 'node:fs';

/** By what a file that nobody has touched is recognised, as far as the system tells. */
export const versionOf = ({ dev, ino, size, mtimeMs, ctimeMs }: Stats): string =>
  [dev, ino, size, mtimeMs, ctimeMs].join(' ');

/** A byte in the middle of a file, and the number of the line that it is in. */
export interface LineMark {
  readonly line: number;
  readonly at: number;
}

/** What was known of a file when it was last read or written through toolcrib. */
export interface KnownFile {
  readonly version: string;
  /** SHA-256 of all of it, in hexadecimal; undefined when only a part was read. */
  readonly hash?: string | undefined;
  /** The encoding it was shown in, when a caller chose one or it is not UTF-8. */
  readonly encoding?: string | undefined;
  /** Of a large one, in order: so that a line is not looked for from the beginning again. */
  readonly marks?: LineMark[] | undefined;
  /** All of it, where that is small: so that it can be said what has changed since. */
  readonly bytes?: Buffer | undefined;
}

/** Files that are remembered, and the most bytes of each that are kept: 16 MB at worst. */
const mostFiles = 1000;
const mostBytes = 16 * 1024;

/** The files this process has read or written last, by real absolute path: what a file may be overwritten by. */
export class KnownFiles {
  readonly #files = new Map<string, KnownFile>();
  readonly #refused = new Set<string>();

  get(path: string): KnownFile | undefined {
    return this.#files.get(path);
  }

  remember(path: string, { bytes, ...file }: KnownFile): void {
    this.forget(path);
    const isKept = bytes !== undefined && bytes.length <= mostBytes;
    // A copy: what was read may be a part of a larger buffer, which it would keep alive.
    this.#files.set(path, isKept ? { ...file, bytes: Buffer.from(bytes) } : file);
    const [oldest] = this.#files.keys();
    if (this.#files.size > mostFiles && oldest !== undefined) this.forget(oldest);
  }

  forget(path: string): void {
    this.#files.delete(path);
  }

  /** Whether a call that changes a file was refused before; from now on it was. */
  wasRefused(path: string, call: string): boolean {
    const key = hash('sha256', `${path}\0${call}`, 'base64');
    if (this.#refused.has(key)) return true;
    if (this.#refused.size >= mostFiles) this.#refused.clear();
    this.#refused.add(key);
    return false;
  }
}

/** The content of a folder, as it was found. */
export interface Listing {
  /** Entries of the folder, or paths below it: thousands of objects would take longer than to read it. */
  readonly items: readonly (Dirent | string)[];
  readonly notes: readonly string[];
  isIgnored?(name: string, isFolder: boolean): boolean;
}
