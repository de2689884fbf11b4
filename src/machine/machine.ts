import type { Settings } from '../core/settings.ts';
import type { Host } from './host.ts';
import type {
  Broken,
  Discovery,
  Installation,
  ProgramFacts,
  SearchPath,
  Version,
} from './programs/installation.ts';
import type { ProgramReport } from './programs/machine-report.ts';
import type { Processes, Run } from './processes/process.ts';
import { cacheFolder, readCache, writeCache } from './folders.ts';
import { childEnvironment } from './environment.ts';
import { discover, whichProgram } from './programs/discovery.ts';
import { cachedLoginShellPath } from './programs/login-shell.ts';
import { createVersionProbe } from './programs/version-probe.ts';
import { searchPath, type LoginShellPath } from './programs/search-path.ts';

/** This computer as the server uses it: what is installed, and how programs are run. */
export interface Machine {
  readonly host: Host;
  readonly run: Run;
  readonly leave: Processes['leave'];
  /** What is installed, as far as is known now. */
  discovery(): Promise<Discovery>;
  /** Makes whole environments for children; see childEnvironment(). */
  childEnvironment(): Promise<
    (names: readonly string[], settings: Readonly<Record<string, string>>) => Record<string, string>
  >;
  /** What is known of every program, versions included: waits for probes that were not made yet. */
  report(): Promise<readonly ProgramReport[]>;
  /** Those of these names that a folder of the search path has. */
  present(names: readonly string[]): Promise<readonly string[]>;
  /** The absolute path of an executable file by its name, whether or not it is one of the known programs. */
  which(name: string): Promise<string | undefined>;
  /**
   * Finds out what takes too long for a first answer: asks the login shell for its PATH unless a fresh answer is kept,
   * and programs for their plugins. Nothing waits for it.
   */
  settle(): Promise<void>;
  /** Finds out anew what is installed when a folder of the search path has changed since: some milliseconds. */
  refresh(): Promise<void>;
  /** Calls when `refresh` or `report` has found other programs than were known. */
  onChange(listener: () => void): void;
}

/** What the settings say of where programs are. */
type Named = Pick<Settings, 'path' | 'programs'>;

/** Starts finding out what is installed; answers wait for the directory listings alone, some milliseconds. */
export function createMachine(
  host: Host,
  facts: readonly ProgramFacts[],
  processes: Processes,
  projectRoots: readonly string[] | Promise<readonly string[]>,
  { path: added, programs: named }: Named = { path: [], programs: {} },
): Machine {
  const cache = cacheFolder(host.platform, host.env, host.home);
  const locate = async (shell: LoginShellPath | undefined) =>
    searchPath(host, shell, await projectRoots, added);
  const discoverBut = async (known: Broken): Promise<Discovery> =>
    discover(facts, host, await located, { broken: known, named, roots: await projectRoots });
  let shell = cachedLoginShellPath(host, cache);
  let broken = (readCache(cache, brokenName) ?? {}) as Broken;
  let located = shell.then(locate);
  let discovered = discoverBut(broken);
  let changed = () => {};

  const probe = createVersionProbe({ run: processes.run, host, cacheFolder: cache });
  const versionsOf = async (found: readonly Installation[]) => probe(found, facts, await located);

  async function weedOut(isDoubtful: (id: string) => boolean): Promise<Discovery> {
    const weeded = await withoutBroken(discoverBut, isDoubtful, versionsOf);
    discovered = Promise.resolve(weeded.discovery);
    if (JSON.stringify(weeded.broken) !== JSON.stringify(broken))
      writeCache(cache, brokenName, weeded.broken);
    broken = weeded.broken;
    return weeded.discovery;
  }

  async function askShell(): Promise<void> {
    if ((await shell)?.fresh) return;
    const { askLoginShell } = await import('./programs/login-shell.ts');
    const answer = await askLoginShell(host, processes.run, cache);
    if (!answer) return;
    shell = Promise.resolve({ ...answer, fresh: true });
    located = locate(answer);
  }

  /** Says so when other programs are known after `look`. */
  async function comparing<T>(look: () => Promise<T>): Promise<T> {
    const before = idsOf(await discovered);
    const seen = await look();
    if (before !== idsOf(await discovered)) changed();
    return seen;
  }

  async function refresh(): Promise<void> {
    const path = await locate(await shell);
    if (path.stamp === (await located).stamp) return;
    located = Promise.resolve(path);
    await comparing(() => (discovered = discoverBut(broken)));
  }

  return {
    host,
    run: processes.run,
    leave: processes.leave,
    discovery: () => discovered,
    childEnvironment: async () => childEnvironment.bind(undefined, host, await located),
    async report() {
      await refresh();
      const found = await comparing(() => weedOut(() => true));
      const { reportOf } = await import('./programs/machine-report.ts');
      return reportOf(facts, found, await versionsOf([...found.installed.values()]), host.platform);
    },
    present: async (names) => presentIn(await located, names, host),
    which: async (name) => programBy(name, host, await located),
    async settle() {
      await askShell();
      const doubtful = doubtfulIn(facts, broken);
      await weedOut((id) => doubtful.has(id));
    },
    refresh,
    onChange: (listener) => void (changed = listener),
  };
}

type VersionsOf = (found: readonly Installation[]) => Promise<ReadonlyMap<string, Version>>;

async function presentIn({ folders }: SearchPath, names: readonly string[], host: Host): Promise<string[]> {
  const lists = await Promise.all(folders.map(({ folder }) => host.list(folder)));
  const found = new Set(lists.flat().map((name) => name.replace(/\.(?:exe|cmd|bat)$/i, '')));
  return names.filter((name) => found.has(name));
}

async function programBy(name: string, host: Host, path: SearchPath): Promise<string | undefined> {
  const found = await whichProgram(name, host, path);
  return 'installed' in found ? found.installed.program : undefined;
}

const brokenName = 'broken.json';

const idsOf = (discovery: Discovery): string => [...discovery.installed.keys()].join();

/** What is not taken to be there without a look: plugins, and what was broken the last time. */
const doubtfulIn = (facts: readonly ProgramFacts[], broken: Broken): ReadonlySet<string | undefined> =>
  new Set([
    ...facts.filter(({ called }) => called.some((name) => name.includes(' '))).map(({ id }) => id),
    ...Object.keys(broken).map((key) => key.split(' ')[0]),
  ]);

/** Leaves out what does not work, which only starting it can tell: the next candidate takes its place. */
async function withoutBroken(
  discoverBut: (broken: Broken) => Promise<Discovery>,
  isDoubtful: (id: string) => boolean,
  versionsOf: VersionsOf,
): Promise<{ readonly discovery: Discovery; readonly broken: Broken }> {
  // What was broken may have been mended.
  let broken: Broken = {};
  for (;;) {
    const discovery = await discoverBut(broken);
    const doubtful = [...discovery.installed.values()].filter(({ id }) => isDoubtful(id));
    const versions = await versionsOf(doubtful);
    const failing = doubtful
      .filter(({ id }) => versions.get(id)?.broken)
      .map(({ id, program }) => [`${id} ${program}`, versions.get(id)?.note ?? ''] as const)
      .filter(([key]) => !Object.hasOwn(broken, key));
    if (failing.length === 0) return { discovery, broken };
    broken = { ...broken, ...Object.fromEntries(failing) };
  }
}
