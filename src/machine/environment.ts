import type { LookupAddress } from 'node:dns';
import type { Settings } from '../core/settings.ts';
import type { Program } from '../core/program.ts';
import type { Catalogue } from './catalogue.ts';
import { childEnvironment } from './programs/child-environment.ts';
import { readCache, writeCache } from '../store/own-files.ts';
import type { Host } from './host.ts';
import { userFolder } from './user-folders.ts';
import type { Processes, Run } from './processes/process.ts';
import { discover, whichProgram } from './programs/discovery.ts';
import type { Broken, Discovery, Installation, SearchPath, Version } from './programs/installation.ts';
import { askLoginShell, cachedLoginShellPath, type KnownLoginShell } from './programs/login-shell.ts';
import type { ProgramReport } from './programs/machine-report.ts';
import { searchPath } from './programs/search-path.ts';
import { createVersionProbe, type VersionsOf } from './programs/version-probe.ts';

const brokenName = 'broken.json';

/** This computer, and all that could be offered on it. One for all clients of a process. */
export interface Environment {
  readonly host: Host;
  /** All programs and tools that there could be. */
  readonly catalogue: Catalogue;
  /** The programs that people have described, by id. */
  readonly userPrograms: ReadonlyMap<string, Program>;
  /** One for each file of programs that is left out: file, line, and why. */
  readonly problems: readonly string[];
  /** The folders that are open as far as is known before a client says more. */
  readonly roots: Promise<readonly string[]>;
  /** By the id of each program that the project uses: what shows that. */
  readonly evidence: Promise<ReadonlyMap<string, string>>;
  /** Runs a program, or a pipe of them; see Processes. */
  readonly run: Run;
  /** Opens a window, which goes on when the call is answered. */
  readonly leave: Processes['leave'];
  /** Watches the programs that another package starts; see Processes. */
  readonly watch: Processes['watch'];
  /** Ends everything that is still running, and what it started. */
  endPrograms(): Promise<void>;
  /** The programs that are installed, as far as is known now. */
  discovery(): Promise<Discovery>;
  /**
   * The program that is started; undefined where it is not installed. Whether a plugin is there is asked
   * before it is used for the first time.
   */
  installation(id: string): Promise<Installation | undefined>;
  /** Facts of every program, by title: starts those that were not asked for their versions yet. */
  report(): Promise<ProgramReport[]>;
  /** The absolute path of an executable file by its name, whether or not it is one of the known programs. */
  which(name: string): Promise<string | undefined>;
  /** The addresses of the name of a machine. */
  resolveHost(name: string): Promise<readonly LookupAddress[]>;
  /** Those of these names that a folder of the search path has. */
  present(names: readonly string[]): Promise<readonly string[]>;
  /** The whole environment of a child; see childEnvironment(). */
  childEnvironment(
    names: readonly string[],
    settings: Readonly<Record<string, string>>,
  ): Promise<Readonly<Record<string, string>>>;
  /** Calls when `refresh` or `report` has found other programs than were known. */
  onChange(listener: () => void): void;
  /** Looks again when a folder of the search path has changed since. */
  refresh(): Promise<void>;
  /**
   * Finds out what takes too long for a first answer: asks the login shell for its PATH unless a fresh answer
   * is kept, and programs for their plugins. Nothing waits for it.
   */
  settle(): Promise<void>;
}

/** The facts that an environment is made of. */
interface EnvironmentFacts extends Pick<
  Environment,
  'host' | 'catalogue' | 'userPrograms' | 'problems' | 'roots' | 'evidence'
> {
  readonly processes: Processes;
  readonly settings: Pick<Settings, 'path' | 'programs'>;
}

/**
 * Finding out what is installed begins when it is made; answers wait for the directory listings alone, some
 * milliseconds.
 */
export class LocalEnvironment implements Environment {
  readonly host: Host;
  readonly catalogue: Catalogue;
  readonly userPrograms: ReadonlyMap<string, Program>;
  readonly problems: readonly string[];
  readonly roots: Promise<readonly string[]>;
  readonly evidence: Promise<ReadonlyMap<string, string>>;
  readonly run: Run;
  readonly leave: Processes['leave'];
  readonly watch: Processes['watch'];
  readonly endPrograms: () => Promise<void>;
  readonly #settings: Pick<Settings, 'path' | 'programs'>;
  readonly #cache: string | undefined;
  readonly #probe: VersionsOf;
  /** The path that the environments of children are made with. */
  #childPath: SearchPath | undefined;
  readonly #childEnvironments = new Map<string, Readonly<Record<string, string>>>();
  #shell: Promise<KnownLoginShell | undefined>;
  #path: Promise<SearchPath>;
  #broken: Broken;
  #discovery: Promise<Discovery>;
  #looked: Promise<void> | undefined;
  #changed = () => {};

  constructor({ processes, settings, ...facts }: EnvironmentFacts) {
    const { host } = facts;
    this.host = host;
    this.catalogue = facts.catalogue;
    this.userPrograms = facts.userPrograms;
    this.problems = facts.problems;
    this.roots = facts.roots;
    this.evidence = facts.evidence;
    this.run = processes.run;
    this.leave = processes.leave;
    this.watch = processes.watch;
    this.endPrograms = processes.endAll;
    this.#settings = settings;
    this.#cache = userFolder('cache', host);
    this.#probe = createVersionProbe({ run: this.run, host, cacheFolder: this.#cache });
    this.#shell = cachedLoginShellPath(host, this.#cache);
    this.#path = this.#locate();
    this.#broken = (readCache(this.#cache, brokenName) ?? {}) as Broken;
    this.#discovery = this.#discover(this.#broken);
  }

  discovery(): Promise<Discovery> {
    return this.#discovery;
  }

  /** Ours does not change, and is slow to read: each is made once. */
  async childEnvironment(
    names: readonly string[],
    settings: Readonly<Record<string, string>>,
  ): Promise<Readonly<Record<string, string>>> {
    const path = await this.#path;
    if (path !== this.#childPath) this.#childEnvironments.clear();
    this.#childPath = path;
    const key = JSON.stringify([names, settings]);
    const known = this.#childEnvironments.get(key);
    if (known) return known;
    const made = childEnvironment(this.host, path, names, settings);
    this.#childEnvironments.set(key, made);
    return made;
  }

  async installation(id: string): Promise<Installation | undefined> {
    const found = (await this.#discovery).installed.get(id);
    if (!found || found.words.length === 0) return found;
    await (this.#looked ??= this.#comparing(() => this.#lookAtDoubtful()));
    return (await this.#discovery).installed.get(id);
  }

  async report(): Promise<ProgramReport[]> {
    await this.refresh();
    const discovery = await this.#comparing(() => this.#weedOut(() => true));
    const versions = await this.#versionsOf([...discovery.installed.values()]);
    const { reportOf } = await import('./programs/machine-report.ts');
    return reportOf(this.catalogue.programs, discovery, versions, this.host.platform);
  }

  async which(name: string): Promise<string | undefined> {
    const found = await whichProgram(name, this.host, await this.#path);
    return 'installed' in found ? found.installed.program : undefined;
  }

  async resolveHost(name: string): Promise<readonly LookupAddress[]> {
    const { lookup } = await import('node:dns/promises');
    return lookup(name, { all: true });
  }

  async present(names: readonly string[]): Promise<readonly string[]> {
    const { folders } = await this.#path;
    const lists = await Promise.all(folders.map(({ folder }) => this.host.list(folder)));
    const found = new Set(lists.flat().map((name) => name.replace(/\.(?:exe|cmd|bat)$/i, '')));
    return names.filter((name) => found.has(name));
  }

  onChange(listener: () => void): void {
    this.#changed = listener;
  }

  async refresh(): Promise<void> {
    const path = await this.#locate();
    if (path.stamp === (await this.#path).stamp) return;
    this.#path = Promise.resolve(path);
    await this.#comparing(() => (this.#discovery = this.#discover(this.#broken)));
  }

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
    const plugins = this.catalogue.programs.filter(({ called }) => called.some((name) => name.includes(' ')));
    const broken = Object.keys(this.#broken).map((key) => key.split(' ')[0]);
    const doubtful = new Set([...plugins.map(({ id }) => id), ...broken]);
    await this.#weedOut((id) => doubtful.has(id));
  }

  async #locate(): Promise<SearchPath> {
    return searchPath(this.host, await this.#shell, await this.roots, this.#settings.path);
  }

  async #discover(broken: Broken): Promise<Discovery> {
    const known = { broken, named: this.#settings.programs, roots: await this.roots };
    return discover(this.catalogue.programs, this.host, await this.#path, known);
  }

  async #comparing<T>(look: () => Promise<T>): Promise<T> {
    const ids = async () => [...(await this.#discovery).installed.keys()].join();
    const before = await ids();
    const seen = await look();
    if (before !== (await ids())) this.#changed();
    return seen;
  }

  async #versionsOf(found: readonly Installation[]): Promise<ReadonlyMap<string, Version>> {
    return this.#probe(found, this.catalogue.programs, await this.#path);
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
