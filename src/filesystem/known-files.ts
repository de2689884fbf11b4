import type { Stats } from 'node:fs';

/** By what a file that nobody has touched is recognised. */
export type Version = Pick<Stats, 'dev' | 'ino' | 'size' | 'mtimeMs' | 'ctimeMs'>;

/** What was known of a file when it was last read or written through toolcrib. */
export interface KnownFile {
  readonly stat: Version;
  /** SHA-256 of all of it, in hexadecimal; undefined when only a part was read. */
  readonly hash?: string | undefined;
  /** The encoding it was shown in, when a caller chose one or it is not UTF-8. */
  readonly encoding?: string | undefined;
  /** All of it, where that is small: so that it can be said what has changed since. */
  readonly bytes?: Buffer | undefined;
}

/** The files this process has read or written: what a file may be overwritten by. */
export interface KnownFiles {
  /** By real absolute path. */
  get(path: string): KnownFile | undefined;
  remember(path: string, file: KnownFile): void;
  forget(path: string): void;
  /** Whether a call that changes a file was refused before; from now on it was. */
  wasRefused(path: string, call: string): boolean;
}

/** Files that are remembered at once, and bytes of them that are kept. */
const mostFiles = 10_000;
const mostBytes = 2 * 1024 * 1024;
/** A file with more bytes is remembered without them. */
const smallBytes = 64 * 1024;

/** Remembers the files that were used last. */
export function createKnownFiles(): KnownFiles {
  const files = new Map<string, KnownFile>();
  const refused = new Set<string>();
  let kept = 0;

  const forget = (path: string) => {
    kept -= files.get(path)?.bytes?.length ?? 0;
    files.delete(path);
  };
  const dropOldest = () => {
    for (const [path, { bytes, ...file }] of files) {
      if (files.size > mostFiles) forget(path);
      else if (kept <= mostBytes) return;
      else if (bytes) {
        kept -= bytes.length;
        // Setting a key that is there keeps its place.
        files.set(path, file);
      }
    }
  };

  return {
    get: (path) => files.get(path),
    remember(path, { bytes, ...file }) {
      forget(path);
      const keeps = bytes !== undefined && bytes.length <= smallBytes;
      // A copy: what was read may be a part of a larger buffer, which it would keep alive.
      files.set(path, keeps ? { ...file, bytes: Buffer.from(bytes) } : file);
      if (keeps) kept += bytes.length;
      dropOldest();
    },
    forget,
    wasRefused(path, call) {
      const key = `${path}\0${call}`;
      if (refused.has(key)) return true;
      if (refused.size >= mostFiles) refused.clear();
      refused.add(key);
      return false;
    },
  };
}

/** Whether two looks at a file saw the same one, unchanged as far as the system tells. */
export const sameVersion = (a: Version, b: Version): boolean =>
  (['ino', 'dev', 'size', 'mtimeMs', 'ctimeMs'] as const).every((fact) => a[fact] === b[fact]);

/** Only what tells versions apart: a whole Stats of each file that was read would be a lot to keep. */
export const versionOf = ({ dev, ino, size, mtimeMs, ctimeMs }: Version): Version => ({
  dev,
  ino,
  size,
  mtimeMs,
  ctimeMs,
});
