import type { Stats } from 'node:fs';

/** What was known of a file when it was last read or written through toolcrib. */
export interface KnownFile {
  /** By which a file that nobody has touched is recognised without reading it. */
  readonly stat: Pick<Stats, 'dev' | 'ino' | 'size' | 'mtimeMs' | 'ctimeMs'>;
  /** Date.now() when that was so. */
  readonly seenAt: number;
  /** SHA-256 of all of it, in hexadecimal; undefined when only a part was read. */
  readonly hash?: string | undefined;
  /** The encoding it was shown in, when a caller chose one or it is not UTF-8. */
  readonly encoding?: string | undefined;
  /** All of it, where that is small: so that it can be said what has changed since. */
  readonly bytes?: Buffer | undefined;
}

/** The files this process has read or written: the condition of changing them. */
export interface KnownFiles {
  /** By real absolute path. */
  get(path: string): KnownFile | undefined;
  remember(path: string, file: KnownFile): void;
  forget(path: string): void;
}

/** Files that are remembered at once, and bytes of them that are kept. */
const mostFiles = 10_000;
const mostBytes = 2 * 1024 * 1024;
/** A file with more bytes is remembered without them. */
const smallBytes = 64 * 1024;

/** Remembers the files that were used last. */
export function createKnownFiles(): KnownFiles {
  const files = new Map<string, KnownFile>();
  let kept = 0;

  const forget = (path: string) => {
    kept -= files.get(path)?.bytes?.length ?? 0;
    files.delete(path);
  };
  const dropBytes = () => {
    for (const [path, { bytes, ...file }] of files) {
      if (kept <= mostBytes) return;
      if (!bytes) continue;
      kept -= bytes.length;
      // Setting a key that is there keeps its place.
      files.set(path, file);
    }
  };

  return {
    get: (path) => files.get(path),
    remember(path, { bytes, ...file }) {
      const isKept = files.get(path)?.bytes === bytes;
      forget(path);
      const keeps = bytes !== undefined && bytes.length <= smallBytes;
      // A copy: what was read may be a part of a larger buffer, which it would keep alive.
      files.set(path, keeps ? { ...file, bytes: isKept ? bytes : Buffer.from(bytes) } : file);
      if (keeps) kept += bytes.length;
      dropBytes();
      const [oldest] = files.keys();
      if (files.size > mostFiles && oldest !== undefined) forget(oldest);
    },
    forget,
  };
}
