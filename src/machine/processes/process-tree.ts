// The watchdog runs the text of these functions in a process of its own: they use nothing but Node and their
// parameters.

/** The relation of processes to programs that are to be ended. */
interface Relation {
  /** `NAME=value` pairs, one of which is in the environment a process was started with. */
  readonly marks: readonly string[];
  /** Process groups and sessions, by the id of their first process. */
  readonly groups: readonly number[];
  /**
   * Processes that were found before, by id, with the time they were started at: an id is given again in
   * time.
   */
  readonly known: ReadonlyMap<number, string>;
}

type FindFamily = (relation: Relation) => Map<number, string>;

/**
 * The processes on Linux that are in a relation, and all that descend from them. Zombies are left out: they
 * have ended. A daemon that left group, session and parent still carries the mark; one that was started with
 * another environment is in the session, or below a process that is. Throws when the system does not tell, as
 * with too many open files.
 */
export function linuxFamily({ marks, groups, known }: Relation): Map<number, string> {
  const { readdirSync, readFileSync } = process.getBuiltinModule('node:fs');
  const read = (path: string) => {
    try {
      return readFileSync(path, 'latin1');
    } catch (error) {
      // Ended meanwhile, or another user's.
      if (['ENOENT', 'ESRCH', 'EACCES', 'EPERM'].includes((error as { code: string }).code)) return '';
      throw error;
    }
  };
  const children = new Map<number, number[]>();
  const startedAt = new Map<number, string>();
  const queue: number[] = [];
  for (const pid of readdirSync('/proc').map(Number)) {
    if (!pid) continue;
    const stat = read(`/proc/${pid}/stat`);
    // After the name, which may hold anything: proc_pid_stat(5), from its third field on.
    const [state = '', parent, group, session, ...rest] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (state === '' || state === 'Z' || state === 'X') continue;
    const start = rest[15] ?? '';
    startedAt.set(pid, start);
    children.set(Number(parent), [...(children.get(Number(parent)) ?? []), pid]);
    const belongs =
      known.get(pid) === start || [pid, Number(group), Number(session)].some((id) => groups.includes(id));
    const environment = belongs ? '' : read(`/proc/${pid}/environ`);
    if (belongs || marks.some((mark) => environment.includes(mark))) queue.push(pid);
  }
  const family = new Map<number, string>();
  for (let pid = queue.pop(); pid !== undefined; pid = queue.pop()) {
    if (family.has(pid)) continue;
    family.set(pid, startedAt.get(pid) ?? '');
    queue.push(...(children.get(pid) ?? []));
  }
  return family;
}

/** The same where only `ps` tells, which shows no environments. */
export function listedFamily({ groups, known }: Relation): Map<number, string> {
  const { execFileSync } = process.getBuiltinModule('node:child_process');
  const listing = execFileSync('/bin/ps', ['-axo', 'pid=,ppid=,pgid=,state='], {
    encoding: 'utf8',
    timeout: 2000,
  });
  const rows = listing.split('\n').map((row) => row.trim().split(/\s+/));
  const living = rows.filter(([, , , state]) => state !== undefined && !state.startsWith('Z'));
  const family = new Map<number, string>();
  for (let before = -1; before !== family.size;) {
    before = family.size;
    for (const [pid, parent, group] of living)
      if (groups.includes(Number(group)) || known.has(Number(pid)) || family.has(Number(parent)))
        family.set(Number(pid), '');
  }
  return family;
}

/**
 * Ends programs and everything they started: SIGTERM, a grace, SIGKILL. Looks again each time before it
 * signals: something may be started in between. Resolves when nothing is left, or after so long, but not
 * before a look with the SIGKILL: a busy process may come back to this late. The groups get it whatever was
 * seen.
 */
export async function endFamily(
  find: FindFamily,
  { marks, groups }: Omit<Relation, 'known'>,
  { leastLooks, mostMs }: { readonly leastLooks: number; readonly mostMs: number },
): Promise<void> {
  const graceMs = 300;
  const pollMs = 25;
  const signal = (pid: number, name: NodeJS.Signals) => {
    try {
      process.kill(pid, name);
    } catch {
      // It has already ended, which is what was wanted.
    }
  };
  if (process.platform === 'win32') {
    const { spawnSync } = process.getBuiltinModule('node:child_process');
    const taskkill = `${process.env['SystemRoot'] ?? 'C:\\Windows'}\\System32\\taskkill.exe`;
    for (const pid of groups)
      spawnSync(taskkill, ['/PID', `${pid}`, '/T', '/F'], { timeout: 2000, windowsHide: true });
    return;
  }
  const asked = new Set<number>();
  const startedAt = performance.now();
  let known: Map<number, string> = new Map();
  let isLate = false;
  for (let looks = 1; !isLate || performance.now() - startedAt < mostMs; looks++) {
    let isSeen = true;
    try {
      known = find({ marks, groups, known });
    } catch {
      // Too many open files: those that were found before are taken to be there.
      isSeen = false;
    }
    if (isSeen && known.size === 0 && looks >= leastLooks) break;
    isLate = performance.now() - startedAt > graceMs;
    // Not before the first look: what loses its parent is known by that alone.
    if (isLate || looks === 1) for (const group of groups) signal(-group, isLate ? 'SIGKILL' : 'SIGTERM');
    for (const pid of known.keys()) {
      if (isLate) signal(pid, 'SIGKILL');
      else if (!asked.has(pid)) signal(pid, 'SIGTERM');
      asked.add(pid);
    }
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
  for (const group of groups) signal(-group, 'SIGKILL');
}
