import { existsSync, mkdirSync, readdirSync, readlinkSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { makePrivate } from '../../store/own-files.ts';
import type { Host } from '../host.ts';

/** Folders of ours that take what programs leave behind when they are asked something. */
export interface ProbeFolders {
  /** Empty: a project's own files (.npmrc, .mvn, global.json) would be obeyed, and can name code to run. */
  readonly empty: string;
  /** Variables that name the others; `caches` are those that tell the program where to keep what it makes. */
  env(caches: readonly string[]): Record<string, string>;
  /** Removes what programs have left in the empty one. */
  clear(): void;
}

/** Of a home these are folders in ours as well, with links in them: a program may add to what is there. */
const mirrored = [
  '',
  '.config',
  '.local',
  '.local/share',
  'Library',
  'Library/Application Support',
  'Library/Preferences',
];
/** Nothing in these is needed to tell a version: in ours they are empty. */
const left = ['.cache', '.local/state', 'Library/Caches', 'Library/Logs'];

/**
 * Makes them below a cache folder, for questions of all servers: who is killed leaves nothing elsewhere.
 * HOME is one of them: what the person has there is linked, so that a version manager finds their toolchains,
 * and what a program makes anew is made in ours. Throws what the system says.
 */
export function makeProbeFolders(host: Host, cache: string): ProbeFolders {
  const top = probeFolder(cache);
  if (top === undefined) throw new Error(`${cache} cannot be written, or is open to others`);
  const made = (name: string): string => {
    mkdirSync(join(top, name), { recursive: true, mode: 0o700 });
    return join(top, name);
  };
  const [empty, temporary, kept] = [made('empty'), made('tmp'), made('cache')];
  const common: Record<string, string> = {
    // On Windows links are for administrators.
    ...(host.platform === 'win32' ? { TEMP: temporary, TMP: temporary } : homesIn(top, host)),
    TMPDIR: temporary,
    PWD: empty,
    XDG_CACHE_HOME: kept,
    XDG_STATE_HOME: made('state'),
    XDG_RUNTIME_DIR: made('run'),
    PYTHONDONTWRITEBYTECODE: '1',
  };
  const clear = () => {
    for (const name of namesIn(empty)) rmSync(join(empty, name), { recursive: true, force: true });
  };
  // A server that was killed may have left something.
  clear();
  return {
    empty,
    clear,
    env: (caches) => ({ ...common, ...Object.fromEntries(caches.map((name) => [name, join(kept, name)])) }),
  };
}

/** Makes what stands for the person's home, and for what the variables name beside it; returns these. */
function homesIn(top: string, { home, env }: Host): Record<string, string> {
  const apart = [...mirrored, ...left].map((part) => join(home, part));
  mkdirSync(join(top, 'home'), { recursive: true, mode: 0o700 });
  for (const part of mirrored) mirror(join(home, part), join(top, 'home', part), apart);
  for (const part of left.filter((each) => existsSync(join(home, each))))
    mkdirSync(join(top, 'home', part), { recursive: true, mode: 0o700 });
  const variables: Record<string, string> = { HOME: join(top, 'home') };
  for (const name of ['XDG_CONFIG_HOME', 'XDG_DATA_HOME']) {
    const given = env[name] ?? '';
    if (given === '') continue;
    variables[name] = join(top, name);
    mkdirSync(join(top, name), { recursive: true, mode: 0o700 });
    mirror(given, join(top, name));
  }
  return variables;
}

/** The folder that has them; undefined where there can be none. */
export function probeFolder(cache: string): string | undefined {
  const folder = join(cache, 'probe');
  try {
    return makePrivate(folder) ? folder : undefined;
  } catch {
    return undefined;
  }
}

/** Makes a folder hold a link to each entry of another one but these, and no link to what is gone there. */
function mirror(from: string, to: string, apart: readonly string[] = []): void {
  // Else what is in there would be taken for ours.
  if (targetOf(to) !== undefined) rmSync(to);
  const names = new Set(namesIn(from).filter((name) => !apart.includes(join(from, name))));
  if (names.size > 0) mkdirSync(to, { recursive: true, mode: 0o700 });
  for (const name of namesIn(to))
    if (!names.has(name) && targetOf(join(to, name)) !== undefined) rmSync(join(to, name));
  for (const name of names) {
    const [target, link] = [join(from, name), join(to, name)];
    if (targetOf(link) === target) continue;
    // What a program has made there before the person had it.
    rmSync(link, { recursive: true, force: true });
    try {
      symlinkSync(target, link);
    } catch {
      // Another server was faster.
    }
  }
}

/** What a link leads to; undefined for what is none. */
function targetOf(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    // Not there, or not readable: the same as empty.
    return [];
  }
}
