import { existsSync, fchmodSync, fstatSync, type Stats } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Run } from './process.ts';

/** A file that is open. */
interface OpenFile {
  readonly fd: number;
  readonly stat: Stats;
}

export interface ExtendedAttributes {
  /**
   * Gives a new file the extended attributes and access list of the one it replaces. Says whether that one has none,
   * when that is certain, and what to tell the caller when some may be lost. Never rejects.
   */
  carryOver(from: OpenFile, to: OpenFile): Promise<{ readonly none: boolean; readonly note?: string }>;
  /** Takes down that a file has none but those that any new file in its folder gets. */
  hasNone(stat: Stats): void;
}

const mostRemembered = 10_000;
/** The longest tick of Linux is 10 ms (CONFIG_HZ=100): only after it must a change show in a file's times. */
const tickMs = 12;

/**
 * Node has no calls for extended attributes. On Linux cp(1) copies them, which takes as long as writing a file of 1 MB;
 * so a file that has none is remembered until its ctime changes, as it does with each change of its attributes.
 * Elsewhere the new file begins as a copy made by the system, which takes them along: see replace-file.ts.
 */
export function createExtendedAttributes(run: Run | undefined): ExtendedAttributes {
  const without = new Map<string, number>();
  let isMissing = process.platform !== 'linux' || run === undefined;
  const keyOf = ({ dev, ino }: Stats) => `${dev}:${ino}`;

  async function copy(run: Run, from: OpenFile, to: OpenFile) {
    const before = await settledTime(to);
    const program = ['/usr/bin/cp', '/bin/cp'].find((path) => existsSync(path));
    const outcome =
      program &&
      (await run({
        program,
        argv: ['--attributes-only', '--preserve=mode,xattr', pathOf(from.fd), pathOf(to.fd)],
        cwd: '/',
        env: { LC_ALL: 'C' },
        timeoutMs: 5_000,
        keepBytes: 1024,
      }));
    const isUntouched = fstatSync(to.fd).ctimeMs === before;
    // An access list may have been changed to grant what the mode did not.
    if (!isUntouched) fchmodSync(to.fd, from.stat.mode & 0o777);
    if (outcome && outcome.exitCode === 0) return { none: isUntouched };
    // BusyBox has a cp without these options: that is said once, not with each change.
    isMissing = !outcome || /unrecognized|invalid|Usage/i.test(outcome.stderr.text);
    return { none: false, note: 'Extended attributes and access lists, if it had any, could not be kept.' };
  }

  return {
    async carryOver(from, to) {
      if (without.get(keyOf(from.stat)) === from.stat.ctimeMs) return { none: true };
      if (isMissing || !run) return { none: false };
      return copy(run, from, to);
    },
    hasNone(stat) {
      const key = keyOf(stat);
      without.delete(key);
      without.set(key, stat.ctimeMs);
      const [oldest] = without.keys();
      if (without.size > mostRemembered && oldest !== undefined) without.delete(oldest);
    },
  };
}

/** Leads a program we start to the very file that is open here. */
const pathOf = (fd: number): string => `/proc/${process.pid}/fd/${fd}`;

/**
 * The ctime of a file, once any later change must make it another. Since Linux 6.13 that is at once: when a time has been
 * asked for, the next change gets a finer one (Documentation/filesystems/multigrain-ts.rst). So it is tried, twice, since
 * an old kernel may tick in between.
 */
async function settledTime({ fd, stat }: OpenFile): Promise<number> {
  const times = [0, 1, 2].map(() => {
    fchmodSync(fd, stat.mode & 0o777);
    return fstatSync(fd).ctimeMs;
  });
  if (new Set(times).size < times.length) await sleep(tickMs);
  return times.at(-1) ?? 0;
}
