import { existsSync, mkdirSync, readdirSync, readlinkSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { makePrivate } from '../../store/own-files.ts';
import type { Host } from '../host.ts';

/** Our own folders, which take what programs write when they are asked for their versions. */
export interface ProbeFolders {
  /**
   * An empty working directory: in a project, a program would obey files (.npmrc, .mvn, global.json) that can
   * name code to run.
   */
  readonly empty: string;
  /**
   * The variables that name the other folders; `caches` are those that tell the program where to put its
   * cache.
   */
  env(caches: readonly string[]): Record<string, string>;
  /** Removes what programs have left in the empty folder. */
  clear(): void;
}

/** Folders of a home that are real folders in ours, with links in them, because a program may add to them. */
const mirrored = [
  '',
  '.config',
  '.local',
  '.local/share',
  'Library',
  'Library/Application Support',
  'Library/Preferences',
];
/** Folders of a home that are empty in ours, because nothing in them is needed to tell a version. */
const emptied = ['.cache', '.local/state', 'Library/Caches', 'Library/Logs'];

/**
 * Creates the folders below a cache folder, where all servers share them and a killed server leaves nothing
 * elsewhere. HOME is one of them: it links to what the person has, so that a version manager finds their
 * toolchains, and new files are created in ours. Throws the system's error.
 */
export function makeProbeFolders(host: Host, cache: string): ProbeFolders {
  const top = probeFolder(cache);
  if (top === undefined) throw new Error(`${cache} cannot be written, or is open to others`);
  const create = (name: string): string => {
    mkdirSync(join(top, name), { recursive: true, mode: 0o700 });
    return join(top, name);
  };
  const empty = create('empty');
  const temporary = create('tmp');
  const cached = create('cache');
  const common: Record<string, string> = {
    // On Windows only administrators can create links.
    ...(host.platform === 'win32' ? { TEMP: temporary, TMP: temporary } : homesIn(top, host)),
    TMPDIR: temporary,
    PWD: empty,
    XDG_CACHE_HOME: cached,
    XDG_STATE_HOME: create('state'),
    XDG_RUNTIME_DIR: create('run'),
    PYTHONDONTWRITEBYTECODE: '1',
  };
  const clear = () => {
    for (const name of namesIn(empty)) rmSync(join(empty, name), { recursive: true, force: true });
  };
  // A killed server may have left files.
  clear();
  return {
    empty,
    clear,
    env: (caches) => ({ ...common, ...Object.fromEntries(caches.map((name) => [name, join(cached, name)])) }),
  };
}

/**
 * Creates the folders that stand for the person's home, and for those that variables name beside it. Returns
 * the variables that name ours.
 */
function homesIn(top: string, { home, env }: Host): Record<string, string> {
  const excluded = [...mirrored, ...emptied].map((part) => join(home, part));
  mkdirSync(join(top, 'home'), { recursive: true, mode: 0o700 });
  for (const part of mirrored) mirror(join(home, part), join(top, 'home', part), excluded);
  for (const part of emptied.filter((each) => existsSync(join(home, each))))
    mkdirSync(join(top, 'home', part), { recursive: true, mode: 0o700 });
  const variables: Record<string, string> = { HOME: join(top, 'home') };
  for (const name of ['XDG_CONFIG_HOME', 'XDG_DATA_HOME']) {
    const original = env[name] ?? '';
    if (original === '') continue;
    variables[name] = join(top, name);
    mkdirSync(join(top, name), { recursive: true, mode: 0o700 });
    mirror(original, join(top, name));
  }
  return variables;
}

/** The parent of the probe folders; undefined where it cannot be made or is not private. */
export function probeFolder(cache: string): string | undefined {
  const folder = join(cache, 'probe');
  try {
    return makePrivate(folder) ? folder : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Fills a folder with links to the entries of another one, except the excluded ones, and removes the links to
 * entries that are gone.
 */
function mirror(from: string, to: string, excluded: readonly string[] = []): void {
  // Through a link, the entries behind it would be taken for ours.
  if (targetOf(to) !== undefined) rmSync(to);
  const names = new Set(namesIn(from).filter((name) => !excluded.includes(join(from, name))));
  if (names.size > 0) mkdirSync(to, { recursive: true, mode: 0o700 });
  for (const name of namesIn(to))
    if (!names.has(name) && targetOf(join(to, name)) !== undefined) rmSync(join(to, name));
  for (const name of names) {
    const target = join(from, name);
    const link = join(to, name);
    if (targetOf(link) === target) continue;
    // A program may have created it here before the person had it.
    rmSync(link, { recursive: true, force: true });
    try {
      symlinkSync(target, link);
    } catch {
      // Another server has created the link meanwhile.
    }
  }
}

/** The target of a symbolic link; undefined for anything else. */
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
    // A missing or unreadable folder counts as empty.
    return [];
  }
}
