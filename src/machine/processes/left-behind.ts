import { readdirSync, readFileSync } from 'node:fs';
import { runMarker, type Child } from './child.ts';
import { endFamily } from './process-tree.ts';

/** Leaving has one second in all. */
const endMs = 900;
/** What runs a container belongs to the engine that was asked for it, and is stopped by that. */
const engines = 'aardvark-dns|catatonit|conmon|containerd|crun|dockerd|netavark|passt|pasta|podman';
const ofEngines = new RegExp(`^(?:containers-)?(?:${engines}|rootless|runc|slirp4netns)`);

/** Programs that have ended, and what all that they have started is known by. */
interface Finished {
  readonly marks: readonly string[];
  readonly children: readonly Child[];
}

/**
 * Ends what programs have left running that have ended by themselves: daemons and servers, which nobody could
 * stop. Returns their names. Only Linux tells whose they are.
 */
export async function endLeftBehind({ marks, children }: Finished): Promise<readonly string[]> {
  if (process.platform !== 'linux') return [];
  const pairs = marks.map((mark) => `${runMarker}=${mark}`);
  const groups = children.map(({ pid }) => pid);
  const left = leftBehind(pairs, groups);
  if (left.size === 0) return [];
  const names = [...new Set(left.values())];
  const find = () => leftBehind(pairs, groups);
  await endFamily(find, { marks: [], groups: [] }, { leastLooks: 1, mostMs: endMs });
  return names;
}

/**
 * Names of the processes that have one of the marks, by id; the groups have been ended, and may not be gone
 * yet.
 */
function leftBehind(marks: readonly string[], groups: readonly number[]): Map<number, string> {
  const left = new Map<number, string>();
  const first = Math.min(...groups);
  // The last id that was given, by proc_loadavg(5): smaller ones than the first program's are older, until
  // they begin anew.
  const last = Number(read('/proc/loadavg').trim().split(' ').at(-1));
  if (last === Math.max(...groups) && groups.length === 1) return left;
  for (const pid of readdirSync('/proc').map(Number)) {
    if (!pid || (last > first && pid < first) || groups.includes(pid)) continue;
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
