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
import type {
  BrokenPrograms,
  Discovery,
  Installation,
  SearchPath,
  Version,
} from './programs/installation.ts';
import { askLoginShell, cachedLoginShellPath, type KnownLoginShell } from './programs/login-shell.ts';
import type { ProgramReport } from './programs/machine-report.ts';
import { searchPath } from './programs/search-path.ts';
import { createVersionProbe, type VersionsOf } from './programs/version-probe.ts';

const brokenName = 'broken.json';

/** The computer and everything that toolcrib can offer on it. All clients of a process share one. */
export interface Environment {
  readonly host: Host;
  /** The programs and tools that toolcrib knows. */
  readonly catalogue: Catalogue;
  /** The programs that users describe in files of their own, by id. */
  readonly userPrograms: ReadonlyMap<string, Program>;
  /** Messages about the program files that cannot be used, with file, line and reason. */
  readonly problems: readonly string[];
  /** The folders that may be used until a client names its own. */
  readonly roots: Promise<readonly string[]>;
  /** The evidence that the project uses a program, by the program's id. */
  readonly evidence: Promise<ReadonlyMap<string, string>>;
  /** Runs a program or a pipe of programs; see Processes. */
  readonly run: Run;
  /** Starts a program that opens a window and outlives the call. */
  readonly leave: Processes['leave'];
  /** Ends every running program and its descendants. */
  endPrograms(): Promise<void>;
  /** The installed programs, as far as they are known now. */
  discovery(): Promise<Discovery>;
  /**
   * The installation of a program, or undefined where it is not installed. A plugin is started once before
   * its first use, to see that it works.
   */
  installation(id: string): Promise<Installation | undefined>;
  /** Facts about every program, sorted by title. Starts the programs whose versions are not known yet. */
  report(): Promise<ProgramReport[]>;
  /** The absolute path of an executable file by its name, whether or not toolcrib knows the program. */
  which(name: string): Promise<string | undefined>;
  /** The addresses of a host name. */
  resolveHost(name: string): Promise<readonly LookupAddress[]>;
  /** Filters names to those of executables in the folders of the search path. */
  present(names: readonly string[]): Promise<readonly string[]>;
  /** The whole environment of a child; see childEnvironment(). */
  childEnvironment(
    names: readonly string[],
    settings: Readonly<Record<string, string>>,
  ): Promise<Readonly<Record<string, string>>>;
  /** Sets the listener that is called when the set of installed programs changes. */
  onChange(listener: () => void): void;
  /** Discovers the programs again when a folder of the search path has changed. */
  refresh(): Promise<void>;
  /**
   * Finds out what would delay a first answer: asks the login shell for its PATH unless the cached one is
   * fresh, and tests plugins. Nothing waits for it.
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
 * The environment of this computer. Discovery begins in the constructor; answers wait only for directory
 * listings, which take some milliseconds.
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
  readonly endPrograms: () => Promise<void>;
  readonly #settings: Pick<Settings, 'path' | 'programs'>;
  readonly #cache: string | undefined;
  readonly #probe: VersionsOf;
  /** The search path with which the cached environments of children were made. */
  #childPath: SearchPath | undefined;
  readonly #childEnvironments = new Map<string, Readonly<Record<string, string>>>();
  #shell: Promise<KnownLoginShell | undefined>;
  #path: Promise<SearchPath>;
  #broken: BrokenPrograms;
  #discovery: Promise<Discovery>;
  #doubtfulTest: Promise<void> | undefined;
  #listener = () => {};

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
    this.endPrograms = processes.endAll;
    this.#settings = settings;
    this.#cache = userFolder('cache', host);
    this.#probe = createVersionProbe({ run: this.run, host, cacheFolder: this.#cache });
    this.#shell = cachedLoginShellPath(host, this.#cache);
    this.#path = this.#locate();
    this.#broken = (readCache(this.#cache, brokenName) ?? {}) as BrokenPrograms;
    this.#discovery = this.#discover(this.#broken);
  }

  discovery(): Promise<Discovery> {
    return this.#discovery;
  }

  /** Caches each environment, because our own variables do not change and are slow to read. */
  async childEnvironment(
    names: readonly string[],
    settings: Readonly<Record<string, string>>,
  ): Promise<Readonly<Record<string, string>>> {
    const path = await this.#path;
    if (path !== this.#childPath) this.#childEnvironments.clear();
    this.#childPath = path;
    const key = JSON.stringify([names, settings]);
    const cached = this.#childEnvironments.get(key);
    if (cached) return cached;
    const environment = childEnvironment(this.host, path, names, settings);
    this.#childEnvironments.set(key, environment);
    return environment;
  }

  async installation(id: string): Promise<Installation | undefined> {
    const installation = (await this.#discovery).installed.get(id);
    if (!installation || installation.words.length === 0) return installation;
    this.#doubtfulTest ??= this.#reportingChanges(() => this.#testDoubtful());
    await this.#doubtfulTest;
    return (await this.#discovery).installed.get(id);
  }

  async report(): Promise<ProgramReport[]> {
    await this.refresh();
    const discovery = await this.#reportingChanges(() => this.#weedOut(() => true));
    const versions = await this.#versionsOf([...discovery.installed.values()]);
    const { reportOf } = await import('./programs/machine-report.ts');
    return reportOf(this.catalogue.programs, discovery, versions, this.host.platform);
  }

  async which(name: string): Promise<string | undefined> {
    const search = await whichProgram(name, this.host, await this.#path);
    return 'installed' in search ? search.installed.program : undefined;
  }

  async resolveHost(name: string): Promise<readonly LookupAddress[]> {
    const { lookup } = await import('node:dns/promises');
    return lookup(name, { all: true });
  }

  async present(names: readonly string[]): Promise<readonly string[]> {
    const { folders } = await this.#path;
    const lists = await Promise.all(folders.map(({ folder }) => this.host.list(folder)));
    const available = new Set(lists.flat().map((name) => name.replace(/\.(?:exe|cmd|bat)$/i, '')));
    return names.filter((name) => available.has(name));
  }

  onChange(listener: () => void): void {
    this.#listener = listener;
  }

  async refresh(): Promise<void> {
    const path = await this.#locate();
    if (path.stamp === (await this.#path).stamp) return;
    this.#path = Promise.resolve(path);
    await this.#reportingChanges(async () => {
      this.#discovery = this.#discover(this.#broken);
      await this.#discovery;
    });
  }

  async settle(): Promise<void> {
    if (!(await this.#shell)?.fresh) {
      const answer = await askLoginShell(this.host, this.run, this.#cache);
      if (answer) {
        this.#shell = Promise.resolve({ ...answer, fresh: true });
        this.#path = this.#locate();
      }
    }
    this.#doubtfulTest = this.#testDoubtful();
    await this.#doubtfulTest;
  }

  /** Tests the plugins, and the programs that were broken at the last start. */
  async #testDoubtful(): Promise<void> {
    const plugins = this.catalogue.programs.filter(({ called }) => called.some((name) => name.includes(' ')));
    const broken = Object.keys(this.#broken).map((key) => key.split(' ')[0]);
    const doubtful = new Set([...plugins.map(({ id }) => id), ...broken]);
    await this.#weedOut((id) => doubtful.has(id));
  }

  async #locate(): Promise<SearchPath> {
    return searchPath(this.host, await this.#shell, await this.roots, this.#settings.path);
  }

  async #discover(broken: BrokenPrograms): Promise<Discovery> {
    const hints = { broken, named: this.#settings.programs, roots: await this.roots };
    return discover(this.catalogue.programs, this.host, await this.#path, hints);
  }

  /** Calls the listener when a task has changed which programs are installed. */
  async #reportingChanges<T>(task: () => Promise<T>): Promise<T> {
    const ids = async () => [...(await this.#discovery).installed.keys()].join();
    const before = await ids();
    const result = await task();
    if (before !== (await ids())) this.#listener();
    return result;
  }

  async #versionsOf(programs: readonly Installation[]): Promise<ReadonlyMap<string, Version>> {
    return this.#probe(programs, this.catalogue.programs, await this.#path);
  }

  /**
   * Leaves out the doubtful programs that fail when they are started; the next candidates take their place.
   */
  async #weedOut(isDoubtful: (id: string) => boolean): Promise<Discovery> {
    // A program that was broken may have been repaired.
    let broken: BrokenPrograms = {};
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
