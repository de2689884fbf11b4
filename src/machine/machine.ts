import type { Host } from './host.ts';
import type { Discovery, Installation, ProgramFacts, SearchPath } from './programs/installation.ts';
import type { ProgramReport } from './programs/machine-report.ts';
import type { Processes, Run } from './processes/process.ts';
import { cacheFolder } from './folders.ts';
import { childEnvironment } from './environment.ts';
import { discover, whichProgram } from './programs/discovery.ts';
import { cachedLoginShellPath } from './programs/login-shell.ts';
import type { VersionProbe } from './programs/version-probe.ts';
import { findAbsent, knownAbsent, pluginsIn, withoutAbsent } from './programs/plugins.ts';
import { searchPath, type LoginShellPath } from './programs/search-path.ts';

/** This computer as the server uses it: what is installed, and how programs are run. */
export interface Machine {
  readonly host: Host;
  readonly run: Run;
  /** What is installed, as far as is known now. */
  discovery(): Promise<Discovery>;
  /** Makes whole environments for children; see childEnvironment(). */
  childEnvironment(): Promise<
    (names: readonly string[], settings: Readonly<Record<string, string>>) => Record<string, string>
  >;
  /** What is known of every program, versions included: waits for probes that were not made yet. */
  report(): Promise<readonly ProgramReport[]>;
  /** The absolute path of an executable file by its name, whether or not it is one of the known programs. */
  which(name: string): Promise<string | undefined>;
  /**
   * Finds out what takes too long for a first answer: asks the login shell for its PATH unless a fresh answer is kept,
   * and programs for their plugins. True when that changed which programs are known. Nothing waits for it.
   */
  settle(): Promise<boolean>;
}

/** Starts finding out what is installed; answers wait for the directory listings alone, some milliseconds. */
export function createMachine(
  host: Host,
  facts: readonly ProgramFacts[],
  processes: Processes,
  projectRoots: readonly string[] | Promise<readonly string[]>,
): Machine {
  const cache = cacheFolder(host.platform, host.env, host.home);
  const look = async (shell: LoginShellPath | undefined): Promise<Discovery> =>
    discover(facts, host, await searchPath(host, shell, await projectRoots));
  let kept = cachedLoginShellPath(host, cache);
  let absent = knownAbsent(cache);
  let located = kept.then(look);
  const known = async () => withoutAbsent(await located, absent);
  let discovered = known();

  // Neither our own variables nor a search path change while the server runs.
  const environments = new WeakMap<SearchPath, Map<string, Record<string, string>>>();
  // One probe for each search path: it remembers what it has asked, and what did not answer in time.
  const probes = new Map<SearchPath, Promise<VersionProbe>>();
  async function versionsOf(installations: readonly Installation[]) {
    const { path } = await located;
    const probe =
      probes.get(path) ??
      import('./programs/version-probe.ts').then((m) =>
        m.createVersionProbe({ run: processes.run, host, cacheFolder: cache, path }),
      );
    probes.set(path, probe);
    return (await probe).versionsOf(installations, facts);
  }

  async function checkPlugins(): Promise<void> {
    const plugins = pluginsIn(await located, facts);
    if (plugins.length === 0) return;
    absent = findAbsent(plugins, await versionsOf(plugins), cache);
    discovered = known();
  }

  async function askShell(): Promise<void> {
    if ((await kept)?.fresh) return;
    const { askLoginShell } = await import('./programs/login-shell.ts');
    const answer = await askLoginShell(host, processes.run, cache);
    if (!answer) return;
    kept = Promise.resolve({ ...answer, fresh: true });
    located = look(answer);
    discovered = known();
  }

  return {
    host,
    run: processes.run,
    discovery: () => discovered,
    async childEnvironment() {
      const { path } = await located;
      const made = environments.get(path) ?? new Map<string, Record<string, string>>();
      environments.set(path, made);
      return (names, settings) => {
        const key = JSON.stringify([names, settings]);
        const found = made.get(key) ?? childEnvironment(host, path, names, settings);
        made.set(key, found);
        return found;
      };
    },
    async report() {
      await checkPlugins();
      const found = await discovered;
      const { reportOf } = await import('./programs/machine-report.ts');
      return reportOf(facts, found, await versionsOf([...found.installed.values()]), host.platform);
    },
    async which(name) {
      const search = await whichProgram(name, host, (await located).path);
      return 'installed' in search ? search.installed.program : undefined;
    },
    async settle() {
      const before = await discovered;
      await askShell();
      await checkPlugins();
      return idsOf(before) !== idsOf(await discovered);
    },
  };
}

const idsOf = (discovery: Discovery): string => [...discovery.installed.keys()].join();
