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
 * environment is still in the session, or below a process that is. Throws when the system does not tell, as with too
 * many open files (EMFILE), also after some tries: that nothing was seen does not mean that nothing is there. Uses
 * nothing but its parameters: the watchdog runs the text of this function in a process of its own.
 */
export async function linuxFamily(
  { readdir, readFile }: Files,
  { marks, groups, known }: Relation,
): Promise<Map<number, string>> {
  // Each has one file open. More would be no quicker: Node does four things with files at a time.
  const readers = 4;
  const mostTries = 10;
  const betweenMs = 20;
  // Ended meanwhile, or another user's.
  const notThere = ['ENOENT', 'ESRCH', 'EACCES', 'EPERM'];
  const tried = async <T>(look: () => Promise<T>, otherwise: T): Promise<T> => {
    for (let tries = 1; ; tries++) {
      try {
        return await look();
      } catch (error) {
        const code = String((error as { code?: unknown }).code);
        if (notThere.includes(code)) return otherwise;
        if (tries === mostTries) throw error;
        await new Promise((resolve) => setTimeout(resolve, betweenMs));
      }
    }
  };
  const read = async (path: string) => {
    const bytes = await tried(() => readFile(path), new Uint8Array());
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
  };
  const pids = (await tried(() => readdir('/proc'), [])).filter((entry) => /^\d+$/.test(entry)).map(Number);
  const children = new Map<number, number[]>();
  const startedAt = new Map<number, string>();
  const queue: number[] = [];
  const lookAt = async (pid: number) => {
    const stat = await read(`/proc/${pid}/stat`);
    // After the name, which may hold anything: proc_pid_stat(5), from its third field on.
    const [state, parent, group, session, ...rest] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (state === undefined || state === '' || state === 'Z' || state === 'X') return;
    const start = rest[15] ?? '';
    startedAt.set(pid, start);
    children.set(Number(parent), [...(children.get(Number(parent)) ?? []), pid]);
    const belongs =
      known.get(pid) === start ||
      groups.some((id) => id === pid || id === Number(group) || id === Number(session));
    const environment = belongs ? '' : await read(`/proc/${pid}/environ`);
    if (belongs || marks.some((mark) => environment.includes(mark))) queue.push(pid);
  };
  const left = pids.values();
  const reader = async () => {
    for (const pid of left) await lookAt(pid);
  };
  await Promise.all(Array.from({ length: readers }, reader));
  const family = new Map<number, string>();
  for (let pid = queue.pop(); pid !== undefined; pid = queue.pop()) {
    if (family.has(pid)) continue;
    family.set(pid, startedAt.get(pid) ?? '');
    queue.push(...(children.get(pid) ?? []));
  }
  return family;
}
