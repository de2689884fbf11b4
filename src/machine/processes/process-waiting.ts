import { readdir, readFile, readlink, stat } from 'node:fs/promises';
import type { Platform } from '../../core/discoverer.ts';
import { linuxFamily, ticksUsed } from './process-family.ts';

/** What the processes of a program are doing, as far as the system tells. */
export interface Waiting {
  /** The processor time they have used, in ticks of 10 ms. */
  readonly ticks: number;
  /** Whether one of them waits for a person to write something. Undefined when that cannot be seen. */
  readonly reads: boolean | undefined;
}

interface Calls {
  readonly read: string;
  /** poll, select and their like. */
  readonly watch: readonly string[];
}

/** The numbers of system calls, as the kernel's tables have them. */
const numbers: Readonly<Record<string, Calls>> = {
  x64: { read: '0', watch: ['7', '23', '232', '270', '271', '281', '441'] },
  arm64: { read: '63', watch: ['22', '72', '73', '441'] },
};
const terminal = /^\/dev\/(?:pts\/\d+|tty\w*|console)$/;
/** The lowest bits of a file's flags: open(2). */
const accessMode = 0o3;

/**
 * How the program with this id and all it started wait; undefined where the system does not tell. One waits for a person
 * when it is blocked in reading a terminal, or a pipe that none of them writes to: what reads the output of another waits
 * for a program. Never throws.
 */
export async function waitingOf(pid: number, mark: string, platform: Platform): Promise<Waiting | undefined> {
  if (platform !== 'linux') return undefined;
  try {
    const relation = { marks: [mark], groups: [pid], known: new Map<number, string>() };
    const family = [...(await linuxFamily({ readdir, readFile }, relation)).keys()];
    return { ticks: await ticksUsed(family), reads: await readsOf(family) };
  } catch {
    // Too many open files, say: nothing is known.
    return undefined;
  }
}

async function readsOf(family: readonly number[]): Promise<boolean | undefined> {
  const calls = numbers[process.arch];
  if (!calls) return undefined;
  let unseen = false;
  for (const pid of family) {
    const own = await readsIn(pid, family, calls);
    if (own) return true;
    unseen ||= own === undefined;
  }
  return unseen ? undefined : false;
}

async function readsIn(pid: number, family: readonly number[], calls: Calls): Promise<boolean | undefined> {
  let unseen = false;
  for (const thread of await readdir(`/proc/${pid}/task`).catch(() => [])) {
    const line = await readFile(`/proc/${pid}/task/${thread}/syscall`, 'latin1').catch(() => undefined);
    // `running`, or the number of a system call and its arguments: the first of read() is the file.
    const [call = '', file = ''] = line?.split(' ') ?? [];
    if (line === undefined) unseen = true;
    else if (call === calls.read && (await isOfPerson(pid, Number(file), family))) return true;
    // It may wait for the terminal, or for something else.
    else if (calls.watch.includes(call) && terminal.test(await target(pid, 0))) unseen = true;
  }
  return unseen ? undefined : false;
}

const target = (pid: number, file: number | string) => readlink(`/proc/${pid}/fd/${file}`).catch(() => '');

async function isOfPerson(pid: number, file: number, family: readonly number[]): Promise<boolean> {
  const path = await target(pid, file);
  if (terminal.test(path)) return true;
  const facts = await stat(`/proc/${pid}/fd/${file}`).catch(() => undefined);
  if (!facts?.isFIFO()) return false;
  // Whoever opens a named pipe for both ends waits for others; a pipe without a name wakes another thread.
  const writers = path.startsWith('pipe:') ? family : family.filter((other) => other !== pid);
  for (const writer of writers) if (await writes(writer, path)) return false;
  return true;
}

async function writes(pid: number, path: string): Promise<boolean> {
  for (const file of await readdir(`/proc/${pid}/fd`).catch(() => [])) {
    if ((await target(pid, file)) !== path) continue;
    const facts = await readFile(`/proc/${pid}/fdinfo/${file}`, 'latin1').catch(() => '');
    const flags = Number.parseInt(/^flags:\s*(\d+)/m.exec(facts)?.[1] ?? '0', 8);
    if ((flags & accessMode) !== 0) return true;
  }
  return false;
}
