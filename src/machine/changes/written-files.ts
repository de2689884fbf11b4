import type { Stats } from 'node:fs';

/** What is known of a file since it was written here, for as long as nobody else changes it. */
export interface Known {
  /** SHA-256 of its content; undefined where the times of files are too coarse to tell. */
  readonly hash: string | undefined;
  /** Whether it has no extended attributes and no access list but those that any new file in its folder gets. */
  readonly isPlain: boolean;
}

/** Files that were written here, recognised by their times. */
export interface WrittenFiles {
  known(stat: Stats): Known | undefined;
  remember(stat: Stats, facts: { readonly hash: string; readonly isPlain: boolean }): void;
  /** Takes down the times of one file before and after a change that followed at once. */
  observe(before: Stats, after: Stats): void;
  /**
   * Whether no change on a device shares its time with one before it that has been looked at. Coarse times are those of
   * the last tick, up to 10 ms ago; since Linux 6.13 a change gets a finer one when the last has been asked for
   * (Documentation/filesystems/multigrain-ts.rst).
   */
  hasFineTimes(dev: number): boolean;
}

/** As much of what a look tells as says whether it is the same version. */
type Version = Pick<Stats, 'ino' | 'dev' | 'size' | 'mtimeMs' | 'ctimeMs'>;

const mostRemembered = 10_000;
/** A tick in between makes coarse times look fine, about every two hundredth time; not so often in a row. */
const inRow = 4;

export function createWrittenFiles(): WrittenFiles {
  const files = new Map<string, { version: Version; hash: string; isPlain: boolean }>();
  const fine = new Map<number, number>();
  const keyOf = ({ dev, ino }: Stats) => `${dev}:${ino}`;
  const hasFineTimes = (dev: number) => (fine.get(dev) ?? 0) >= inRow;
  return {
    hasFineTimes,
    observe(before, after) {
      const { dev } = after;
      fine.set(dev, after.ctimeMs > before.ctimeMs ? (fine.get(dev) ?? 0) + 1 : 0);
    },
    known(now) {
      const file = files.get(keyOf(now));
      if (!file || !isSameVersion(file.version, now)) return undefined;
      return { isPlain: file.isPlain, hash: hasFineTimes(now.dev) ? file.hash : undefined };
    },
    remember(stat, facts) {
      const key = keyOf(stat);
      const { ino, dev, size, mtimeMs, ctimeMs } = stat;
      files.delete(key);
      // Not the whole of it, which has four dates and takes five times as much; a file that is replaced is another one.
      files.set(key, { version: { ino, dev, size, mtimeMs, ctimeMs }, ...facts });
      const [oldest] = files.keys();
      if (files.size > mostRemembered && oldest !== undefined) files.delete(oldest);
    },
  };
}

/** Whether two looks saw the same file with nothing changed in between, as far as its times tell. */
export const isSameVersion = (a: Version, b: Version): boolean =>
  a.ino === b.ino &&
  a.dev === b.dev &&
  a.size === b.size &&
  a.mtimeMs === b.mtimeMs &&
  a.ctimeMs === b.ctimeMs;
