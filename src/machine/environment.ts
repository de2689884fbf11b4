import type { Settings } from '../core/settings.ts';
import { childEnvironment } from './child-environment.ts';
import { readCache, writeCache } from '../store/own-files.ts';
import type { Host } from './host.ts';
import { userFolder } from './user-folders.ts';
import type { Processes, Run } from './processes/process.ts';
import { discover, whichProgram } from './programs/discovery.ts';
import type {
  Broken,
  Discovery,
  Installation,
  ProgramFacts,
  SearchPath,
  Version,
} from './programs/installation.ts';
import { askLoginShell, cachedLoginShellPath } from './programs/login-shell.ts';
import type { ProgramReport } from './programs/machine-report.ts';
import { searchPath } from './programs/search-path.ts';
import { createVersionProbe } from './programs/version-probe.ts';

const brokenName = 'broken.json';

/**
 * This computer as the server uses it: what is installed, and how programs are run. Finding out what is installed
 * begins when it is made; answers wait for the directory listings alone, some milliseconds.
 */
export class Machine {
  readonly host: Host;
  readonly run: Run;
  readonly leave: Processes['leave'];
  readonly #facts: () => readonly ProgramFacts[];
  readonly #roots: readonly string[] | Promise<readonly string[]>;
  readonly #settings: Pick<Settings, 'path' | 'programs'>;
  readonly #cache: string | undefined;
  readonly #probe: ReturnType<typeof createVersionProbe>;
  #shell: ReturnType<typeof cachedLoginShellPath>;
  #path: Promise<SearchPath>;
  #broken: Broken;
  #discovery: Promise<Discovery>;
  #looked: Promise<void> | undefined;
  #changed = () => {};

  constructor(
    host: Host,
    programs: { readonly programs: readonly ProgramFacts[] },
    { run, leave }: Processes,
    roots: readonly string[] | Promise<readonly string[]>,
    settings: Pick<Settings, 'path' | 'programs'> = { path: [], programs: {} },
  ) {
    this.host = host;
    this.run = run;
    this.leave = leave;
    this.#facts = () => programs.programs;
    this.#roots = roots;
    this.#settings = settings;
    this.#cache = userFolder('cache', host);
    this.#probe = createVersionProbe({ run, host, cacheFolder: this.#cache });
    this.#shell = cachedLoginShellPath(host, this.#cache);
    this.#path = this.#locate();
    this.#broken = (readCache(this.#cache, brokenName) ?? {}) as Broken;
    this.#discovery = this.#discover(this.#broken);
  }

  /** What is installed, as far as is known now. */
  readonly discovery = (): Promise<Discovery> => this.#discovery;

  /** Makes whole environments for children; see childEnvironment(). Ours does not change, and is slow to read. */
  readonly childEnvironment = async () => {
    const path = await this.#path;
    const made = new Map<string, Readonly<Record<string, string>>>();
    return (names: readonly string[], settings: Readonly<Record<string, string>>) => {
      const key = JSON.stringify([names, settings]);
      const env = made.get(key) ?? childEnvironment(this.host, path, names, settings);
      made.set(key, env);
      return env;
    };
  };

  /**
   * What is started for a program; undefined where it is not installed. Whether a plugin is there is asked before it is
   * used for the first time.
   */
  async installation(id: string): Promise<Installation | undefined> {
    const found = (await this.#discovery).installed.get(id);
    if (!found || found.words.length === 0) return found;
    await (this.#looked ??= this.#comparing(() => this.#lookAtDoubtful()));
    return (await this.#discovery).installed.get(id);
  }

  /** What is known of every program, by title: starts those that were not asked for their versions yet. */
  readonly report = async (): Promise<ProgramReport[]> => {
    await this.refresh();
    const discovery = await this.#comparing(() => this.#weedOut(() => true));
    const versions = await this.#versionsOf([...discovery.installed.values()]);
    const { reportOf } = await import('./programs/machine-report.ts');
    return reportOf(this.#facts(), discovery, versions, this.host.platform);
  };

  /** The absolute path of an executable file by its name, whether or not it is one of the known programs. */
  readonly which = async (name: string): Promise<string | undefined> => {
    const found = await whichProgram(name, this.host, await this.#path);
    return 'installed' in found ? found.installed.program : undefined;
  };

  /** Those of these names that a folder of the search path has. */
  readonly present = async (names: readonly string[]): Promise<readonly string[]> => {
    const { folders } = await this.#path;
    const lists = await Promise.all(folders.map(({ folder }) => this.host.list(folder)));
    const found = new Set(lists.flat().map((name) => name.replace(/\.(?:exe|cmd|bat)$/i, '')));
    return names.filter((name) => found.has(name));
  };

  /** Calls when `refresh` or `report` has found other programs than were known. */
  onChange(listener: () => void): void {
    this.#changed = listener;
  }

  /** Looks again when a folder of the search path has changed since. */
  async refresh(): Promise<void> {
    const path = await this.#locate();
    if (path.stamp === (await this.#path).stamp) return;
    this.#path = Promise.resolve(path);
    await this.#comparing(() => (this.#discovery = this.#discover(this.#broken)));
  }

  /**
   * Finds out what takes too long for a first answer: asks the login shell for its PATH unless a fresh answer is kept,
   * and programs for their plugins. Nothing waits for it.
   */
  async settle(): Promise<void> {
    if (!(await this.#shell)?.fresh) {
      const answer = await askLoginShell(this.host, this.run, this.#cache);
      if (answer) this.#shell = Promise.resolve({ ...answer, fresh: true });
      if (answer) this.#path = this.#locate();
    }
    await (this.#looked = this.#lookAtDoubtful());
  }

  /** Plugins, and what was broken the last time. */
  async #lookAtDoubtful(): Promise<void> {
    const plugins = this.#facts().filter(({ called }) => called.some((name) => name.includes(' ')));
    const broken = Object.keys(this.#broken).map((key) => key.split(' ')[0]);
    const doubtful = new Set([...plugins.map(({ id }) => id), ...broken]);
    await this.#weedOut((id) => doubtful.has(id));
  }

  async #locate(): Promise<SearchPath> {
    return searchPath(this.host, await this.#shell, await this.#roots, this.#settings.path);
  }

  async #discover(broken: Broken): Promise<Discovery> {
    const known = { broken, named: this.#settings.programs, roots: await this.#roots };
    return discover(this.#facts(), this.host, await this.#path, known);
  }

  async #comparing<T>(look: () => Promise<T>): Promise<T> {
    const ids = async () => [...(await this.#discovery).installed.keys()].join();
    const before = await ids();
    const seen = await look();
    if (before !== (await ids())) this.#changed();
    return seen;
  }

  async #versionsOf(found: readonly Installation[]): Promise<ReadonlyMap<string, Version>> {
    return this.#probe(found, this.#facts(), await this.#path);
  }

  /** Leaves out what does not work, which only starting it can tell: the next candidate takes its place. */
  async #weedOut(isDoubtful: (id: string) => boolean): Promise<Discovery> {
    // What was broken may have been mended.
    let broken: Broken = {};
    for (;;) {
      const discovery = await this.#discover(broken);
      const doubtful = [...discovery.installed.values()].filter(({ id }) => isDoubtful(id));
      const versions = await this.#versionsOf(doubtful);
      const failing = doubtful
        .filter(({ id }) => versions.get(id)?.broken)
        .map(({ id, program }) => [`${id} ${program}`, versions.get(id)?.note ?? ''] as const)
        .filter(([key]) => !Object.hasOwn(broken, key));
      broken = { ...broken, ...Object.fromEntries(failing) };
      if (failing.length > 0) continue;
      this.#discovery = Promise.resolve(discovery);
      if (JSON.stringify(broken) !== JSON.stringify(this.#broken))
        writeCache(this.#cache, brokenName, broken);
      this.#broken = broken;
      return discovery;
    }
  }
}
