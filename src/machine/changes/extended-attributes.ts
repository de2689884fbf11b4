import { existsSync, fchmodSync, fstatSync, type Stats } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Outcome, Run } from '../processes/process.ts';

/** A file that is open. */
interface OpenFile {
  readonly fd: number;
  readonly stat: Stats;
}

export interface CarriedOver {
  /** Whether there was certainly nothing to carry over. */
  readonly none: boolean;
  /** What to tell the caller when something may be lost. */
  readonly note?: string;
}

/** Gives a new file the extended attributes and access list of the one it replaces. Never rejects. */
export type CarryOver = (from: OpenFile, to: OpenFile) => Promise<CarriedOver>;

/** The longest tick of Linux is 10 ms (CONFIG_HZ=100): only after it must a change show in a file's times. */
const tickMs = 12;

/**
 * Node has no calls for extended attributes. On Linux cp(1) copies them and ls(1) shows an access list by a `+`, which
 * together take as long as writing a file of 1 MB: so it is only asked for files of which it is not known. Elsewhere
 * the new file begins as a copy made by the system, which takes them along: see replace-file.ts.
 */
export function createCarryOver(run: Run | undefined): CarryOver {
  let isMissing = process.platform !== 'linux' || run === undefined;
  return async (from, to) => {
    if (isMissing || !run) return { none: false };
    const before = await settledTime(to);
    const [copied, listed] = await Promise.all([
      start(run, 'cp', ['--attributes-only', '--preserve=xattr', pathOf(from.fd), pathOf(to.fd)]),
      start(run, 'ls', ['-ndL', pathOf(from.fd)]),
    ]);
    const hasList = listed !== undefined && /^\S{10}\+/.test(listed.stdout.text);
    const granted = hasList
      ? await start(run, 'cp', ['--attributes-only', '--preserve=mode', pathOf(from.fd), pathOf(to.fd)])
      : undefined;
    const isUntouched = fstatSync(to.fd).ctimeMs === before;
    if (granted) fchmodSync(to.fd, from.stat.mode & 0o777);
    const isDone = copied?.exitCode === 0 && (!hasList || granted?.exitCode === 0);
    if (isDone) return { none: isUntouched && listed?.exitCode === 0 };
    // BusyBox has a cp without these options: that is said once, not with each change.
    isMissing = !copied || /unrecognized|invalid option|Usage/i.test(copied.stderr.text);
    return {
      none: false,
      note: 'Extended attributes and access lists, if it had any, could not all be kept.',
    };
  };
}

async function start(run: Run, name: string, argv: readonly string[]): Promise<Outcome | undefined> {
  const program = [`/usr/bin/${name}`, `/bin/${name}`].find((path) => existsSync(path));
  return program === undefined
    ? undefined
    : run({ program, argv, cwd: '/', env: { LC_ALL: 'C' }, timeoutMs: 5_000, keepBytes: 1024 });
}

/** Leads a program we start to the very file that is open here. */
const pathOf = (fd: number): string => `/proc/${process.pid}/fd/${fd}`;

/** The ctime of a file, once any later change must make it another: with fine times at once, with coarse after a tick. */
async function settledTime({ fd, stat }: OpenFile): Promise<number> {
  const times = [0, 1, 2].map(() => {
    fchmodSync(fd, stat.mode & 0o777);
    return fstatSync(fd).ctimeMs;
  });
  if (new Set(times).size < times.length) await sleep(tickMs);
  return times.at(-1) ?? 0;
}
