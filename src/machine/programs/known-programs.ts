import { cacheFolder, readCache, writeCache } from '../folders.ts';
import type { Host } from '../host.ts';
import type { Run } from '../processes/process.ts';
import { discover } from './discovery.ts';
import type { Broken, Discovery, Installation, ProgramFacts, SearchPath, Version } from './installation.ts';
import { askLoginShell, cachedLoginShellPath } from './login-shell.ts';
import { searchPath } from './search-path.ts';
import { createVersionProbe } from './version-probe.ts';

/** What decides which programs are found. */
export interface Sources {
  readonly host: Host;
  readonly run: Run;
  /** The programs to look for. */
  facts(): readonly ProgramFacts[];
  readonly roots: readonly string[] | Promise<readonly string[]>;
  /** Folders that the settings add, and where they say that programs are, by id. */
  readonly settings: {
    readonly path: readonly string[];
    readonly programs: Readonly<Record<string, string>>;
  };
}

const brokenName = 'broken.json';

/** What is installed, as far as is known; finding out begins when this is made. */
export class KnownPrograms {
  readonly #sources: Sources;
  readonly #cache: string | undefined;
  readonly #probe: ReturnType<typeof createVersionProbe>;
  #shell: ReturnType<typeof cachedLoginShellPath>;
  #path: Promise<SearchPath>;
  #broken: Broken;
  #discovery: Promise<Discovery>;
  #looked: Promise<void> | undefined;
  #changed = () => {};

  constructor(sources: Sources) {
    const { host, run } = sources;
    this.#sources = sources;
    this.#cache = cacheFolder(host.platform, host.env, host.home);
    this.#probe = createVersionProbe({ run, host, cacheFolder: this.#cache });
    this.#shell = cachedLoginShellPath(host, this.#cache);
    this.#path = this.#locate();
    this.#broken = (readCache(this.#cache, brokenName) ?? {}) as Broken;
    this.#discovery = this.#discover(this.#broken);
  }

  get path(): Promise<SearchPath> {
    return this.#path;
  }

  get discovery(): Promise<Discovery> {
    return this.#discovery;
  }

  /** Calls when `refresh` or `checked` has found other programs than were known. */
  onChange(listener: () => void): void {
    this.#changed = listener;
  }

  /** Looks again when a folder of the search path has changed since, or there are other programs to look for. */
  async refresh(others = false): Promise<void> {
    const path = await this.#locate();
    if (path.stamp === (await this.#path).stamp && !others) return;
    this.#path = Promise.resolve(path);
    await this.#comparing(() => (this.#discovery = this.#discover(this.#broken)));
    if (others) this.#changed();
  }

  /** Every program that works, with its version: starts those that were not asked yet. */
  async checked(): Promise<{ discovery: Discovery; versions: ReadonlyMap<string, Version> }> {
    await this.refresh();
    const discovery = await this.#comparing(() => this.#weedOut(() => true));
    return { discovery, versions: await this.#versionsOf([...discovery.installed.values()]) };
  }

  /** Asks the login shell for its PATH unless a fresh answer is kept, and looks at what is not taken for granted. */
  async settle(): Promise<void> {
    const { host, run } = this.#sources;
    if (!(await this.#shell)?.fresh) {
      const answer = await askLoginShell(host, run, this.#cache);
      if (answer) this.#shell = Promise.resolve({ ...answer, fresh: true });
      if (answer) this.#path = this.#locate();
    }
    await (this.#looked = this.#lookAtDoubtful());
  }

  /** What is started for a program. Whether a plugin is there is asked before it is used for the first time. */
  async installation(id: string): Promise<Installation | undefined> {
    const found = (await this.#discovery).installed.get(id);
    if (!found || found.words.length === 0) return found;
    await (this.#looked ??= this.#comparing(() => this.#lookAtDoubtful()));
    return (await this.#discovery).installed.get(id);
  }

  /** Plugins, and what was broken the last time. */
  async #lookAtDoubtful(): Promise<void> {
    const plugins = this.#sources
      .facts()
      .filter(({ called }) => called.some((name) => name.includes(' ')))
      .map(({ id }) => id);
    const doubtful = new Set([...plugins, ...Object.keys(this.#broken).map((key) => key.split(' ')[0])]);
    await this.#weedOut((id) => doubtful.has(id));
  }

  async #locate(): Promise<SearchPath> {
    const { host, roots, settings } = this.#sources;
    return searchPath(host, await this.#shell, await roots, settings.path);
  }

  async #discover(broken: Broken): Promise<Discovery> {
    const { facts, host, roots, settings } = this.#sources;
    return discover(facts(), host, await this.#path, {
      broken,
      named: settings.programs,
      roots: await roots,
    });
  }

  async #comparing<T>(look: () => Promise<T>): Promise<T> {
    const ids = async () => [...(await this.#discovery).installed.keys()].join();
    const before = await ids();
    const seen = await look();
    if (before !== (await ids())) this.#changed();
    return seen;
  }

  async #versionsOf(found: readonly Installation[]): Promise<ReadonlyMap<string, Version>> {
    return this.#probe(found, this.#sources.facts(), await this.#path);
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
