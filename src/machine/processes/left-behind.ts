import { readdirSync, readFileSync } from 'node:fs';
import { runMarker } from './child.ts';
import { endFamily } from './process-tree.ts';
import type { WatchedProgram } from './watched-programs.ts';

/** Leaving has one second in all. */
const endMs = 900;
/** Programs that run a container: it belongs to the engine that was asked for it, which stops it. */
const engines = 'aardvark-dns|catatonit|conmon|containerd|crun|dockerd|netavark|passt|pasta|podman';
const ofEngines = new RegExp(`^(?:containers-)?(?:${engines}|rootless|runc|slirp4netns)`);

/**
 * Ends what programs have left running that have ended by themselves: daemons and servers, which nobody could
 * stop. Returns their names. Only Linux tells whose they are.
 */
export async function endLeftBehind(programs: readonly WatchedProgram[]): Promise<readonly string[]> {
  const [first, ...others] = programs;
  if (process.platform !== 'linux' || !first) return [];
  if (others.length === 0 && lastPid() === first.pid) return [];
  const left = leftBehind(programs);
  if (left.size === 0) return [];
  const names = [...new Set(left.values())];
  const find = () => leftBehind(programs);
  await endFamily(find, { marks: [], groups: [] }, { leastLooks: 1, mostMs: endMs });
  return names;
}

/** The last process id that was given, by proc_loadavg(5). */
const lastPid = (): number => Number(read('/proc/loadavg').trim().split(' ').at(-1));

/**
 * Names, by id, of processes that carry the mark of a program and are not in its group, which may not be gone
 * yet.
 */
function leftBehind(programs: readonly WatchedProgram[]): Map<number, string> {
  const left = new Map<number, string>();
  const marks = programs.map(({ mark }) => `${runMarker}=${mark}`);
  const groups = programs.map(({ pid }) => pid);
  const first = Math.min(...groups);
  // Smaller ids than the first program's are older, until they begin anew.
  const isInOrder = lastPid() > first;
  for (const pid of readdirSync('/proc').map(Number)) {
    if (!pid || (isInOrder && pid < first) || groups.includes(pid)) continue;
    const environment = read(`/proc/${pid}/environ`);
    if (!marks.some((mark) => environment.includes(mark))) continue;
    const [, state = '', , group] = /\) (\S+) (\d+) (\d+)/.exec(read(`/proc/${pid}/stat`)) ?? [];
    if (state === 'Z' || state === 'X' || groups.includes(Number(group))) continue;
    const [program = ''] = read(`/proc/${pid}/cmdline`).split('\0');
    const name = program.slice(program.lastIndexOf('/') + 1);
    if (name !== '' && !ofEngines.test(name)) left.set(pid, name);
  }
  return left;
}

function read(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    // It has ended meanwhile, is another user's, or there are too many open files: the end of the server
    // finds it.
    return '';
  }
}
