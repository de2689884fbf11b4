/** As much of node:fs/promises as is needed to look at processes. */
interface Files {
  readdir(path: string): Promise<string[]>;
  readFile(path: string): Promise<Uint8Array>;
}

/** Which processes belong together. */
export interface Relation {
  /** `NAME=value` pairs, one of which is in the environment a process was started with. */
  readonly marks: readonly string[];
  /** Process groups and sessions, by the id of their first process. */
  readonly groups: readonly number[];
  /** Processes by id, with the time they were started at: those that were found before. */
  readonly known: ReadonlyMap<number, string>;
}

/**
 * The processes on Linux that are in a relation, and all that descend from them, each with the time it was started at
 * (an id is given to another process in time). Zombies are left out: they have ended. A process's first environment
 * shows: a daemon that left group, session and parent still carries the mark; one that was started with another
 * environment is still in the session, or below a process that is. Uses nothing but its parameters: the watchdog runs
 * the text of this function in a process of its own.
 */
export async function linuxFamily(
  { readdir, readFile }: Files,
  { marks, groups, known }: Relation,
): Promise<Map<number, string>> {
  const read = (path: string) =>
    readFile(path).then(
      (bytes) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1'),
      // Ended meanwhile, or another user's environment.
      () => '',
    );
  const pids = (await readdir('/proc').catch(() => [])).filter((entry) => /^\d+$/.test(entry)).map(Number);
  const children = new Map<number, number[]>();
  const startedAt = new Map<number, string>();
  const first = await Promise.all(
    pids.map(async (pid) => {
      const [stat, environment] = await Promise.all([
        read(`/proc/${pid}/stat`),
        read(`/proc/${pid}/environ`),
      ]);
      // After the name, which may hold anything: proc_pid_stat(5), from its third field on.
      const [state, parent, group, session, ...rest] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      if (state === undefined || state === '' || state === 'Z' || state === 'X') return undefined;
      const start = rest[15] ?? '';
      startedAt.set(pid, start);
      children.set(Number(parent), [...(children.get(Number(parent)) ?? []), pid]);
      const belongs =
        known.get(pid) === start ||
        groups.some((id) => id === pid || id === Number(group) || id === Number(session)) ||
        marks.some((mark) => environment.includes(mark));
      return belongs ? pid : undefined;
    }),
  );
  const family = new Map<number, string>();
  const queue = first.filter((pid) => pid !== undefined);
  for (let pid = queue.pop(); pid !== undefined; pid = queue.pop()) {
    if (family.has(pid)) continue;
    family.set(pid, startedAt.get(pid) ?? '');
    queue.push(...(children.get(pid) ?? []));
  }
  return family;
}

/** The processor time that the processes of a session have used, in ticks of 10 ms; undefined where it is not cheaply known. */
export async function ticksUsed(session: number, platform: string): Promise<number | undefined> {
  if (platform !== 'linux') return undefined;
  const { readdir, readFile } = await import('node:fs/promises');
  const pids = (await readdir('/proc')).filter((entry) => /^\d+$/.test(entry));
  const used = await Promise.all(
    pids.map(async (pid) => {
      const stat = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => '');
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      return Number(fields[3]) === session ? Number(fields[11]) + Number(fields[12]) : 0;
    }),
  );
  return used.reduce((sum, ticks) => sum + ticks, 0);
}
