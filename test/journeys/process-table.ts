import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** A process as it was when it was seen; `start` distinguishes it from a later one with the same number. */
export interface Seen {
  readonly pid: number;
  readonly parent: number;
  /** Z is a zombie: it has ended, and nobody has asked how. */
  readonly state: string;
  /** The first process of its process group. */
  readonly group: number;
  readonly start: string;
  readonly name: string;
}

const read = (path: string): string => {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    // It has ended meanwhile, or belongs to somebody else.
    return '';
  }
};

/** A process as it is now; undefined when there is none. */
export function look(pid: number): Seen | undefined {
  const stat = read(`/proc/${pid}/stat`);
  if (stat === '') return undefined;
  // After the name, which may hold anything: proc_pid_stat(5), from its third field on.
  const end = stat.lastIndexOf(')');
  const fields = stat.slice(end + 2).split(' ');
  return {
    pid,
    parent: Number(fields[1]),
    state: fields[0] ?? '',
    group: Number(fields[2]),
    start: fields[19] ?? '',
    name: stat.slice(stat.indexOf('(') + 1, end),
  };
}

/** None where the system has no /proc. */
const everyProcess = (): Seen[] =>
  (existsSync('/proc') ? readdirSync('/proc') : [])
    .filter((entry) => /^\d+$/.test(entry))
    .flatMap((pid) => look(Number(pid)) ?? []);

/** All that descend from some processes, without these; zombies too. */
export function below(...roots: readonly number[]): Seen[] {
  const all = everyProcess();
  const found = new Set(roots);
  for (let before = 0; before !== found.size;) {
    before = found.size;
    for (const { pid, parent } of all) if (found.has(parent)) found.add(pid);
  }
  return all.filter(({ pid }) => found.has(pid) && !roots.includes(pid));
}

/** Those that were started with a text in their environment, wherever they went since. Zombies have none. */
export const withEnvironment = (text: string): Seen[] =>
  everyProcess().filter(({ pid }) => read(`/proc/${pid}/environ`).includes(text));

/** Sees if it has not ended; a zombie has. */
export function isThere({ pid, start }: Seen): boolean {
  const now = look(pid);
  return now !== undefined && now.start === start && !/[ZX]/.test(now.state);
}

/** Kills a process that was seen, unless it has ended. */
export function endNow(seen: Seen): void {
  if (!isThere(seen)) return;
  try {
    process.kill(seen.pid, 'SIGKILL');
  } catch {
    // It was faster.
  }
}

/** The words by which a process is found on the command line: for messages of tests that fail. */
export const commandOf = ({ pid, state }: Seen): string =>
  `${pid} ${state} ${read(`/proc/${pid}/cmdline`).replaceAll('\0', ' ').slice(0, 160)}`;

/** The open files of a process, as the system names them. */
export const openFiles = (pid: number): string[] =>
  readdirSync(`/proc/${pid}/fd`).flatMap((entry) => {
    try {
      return [readlinkSync(`/proc/${pid}/fd/${entry}`)];
    } catch {
      // Closed meanwhile.
      return [];
    }
  });

/** A line of /proc/PID/status in megabytes: VmRSS is what it has now, VmHWM the most it ever had. */
export function megabytes(pid: number, line: 'VmRSS' | 'VmHWM'): number {
  const [, kilobytes = '0'] =
    new RegExp(`^${line}:\\s+(\\d+) kB`, 'm').exec(read(`/proc/${pid}/status`)) ?? [];
  return Number(kilobytes) / 1024;
}
