import type { Host } from './host.ts';
import type { Discovery, ProgramFacts, SearchPath } from './installation.ts';
import type { ProgramReport } from './machine-report.ts';
import type { Processes, Run } from './process.ts';
import { cacheFolder } from './folders.ts';
import { childEnvironment } from './environment.ts';
import { discover, whichProgram } from './discovery.ts';
import { cachedLoginShellPath } from './login-shell.ts';
import type { VersionProbe } from './version-probe.ts';
import { searchPath, type LoginShellPath } from './search-path.ts';

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
   * Asks the login shell for its PATH, unless a fresh answer is kept, and looks again when it differs. True when that
   * changed which programs are known. May take seconds: nothing waits for it.
   */
  askLoginShell(): Promise<boolean>;
}

/** Starts finding out what is installed; answers wait for the directory listings alone, some milliseconds. */
export function createMachine(
  host: Host,
  facts: readonly ProgramFacts[],
  processes: Processes,
  projectRoots: readonly string[],
): Machine {
  const cache = cacheFolder(host.platform, host.env, host.home);
  const look = async (shell: LoginShellPath | undefined): Promise<Discovery> =>
    discover(facts, host, await searchPath(host, shell, projectRoots));
  let kept = cachedLoginShellPath(host, cache);
  let discovery = kept.then(look);

  // One probe for each search path: it remembers what it has asked, and what did not answer in time.
  const probes = new Map<SearchPath, Promise<VersionProbe>>();
  async function versions(found: Discovery) {
    const probe =
      probes.get(found.path) ??
      import('./version-probe.ts').then((m) =>
        m.createVersionProbe({ run: processes.run, host, cacheFolder: cache, path: found.path }),
      );
    probes.set(found.path, probe);
    return (await probe).versionsOf([...found.installed.values()], facts);
  }

  return {
    host,
    run: processes.run,
    discovery: () => discovery,
    async childEnvironment() {
      const path: SearchPath = (await discovery).path;
      return (names, settings) => childEnvironment(host, path, names, settings);
    },
    async report() {
      const found = await discovery;
      const { reportOf } = await import('./machine-report.ts');
      return reportOf(facts, found, await versions(found), host.platform);
    },
    async which(name) {
      const { path } = await discovery;
      const search = await whichProgram(name, host, path);
      return 'installed' in search ? search.installed.program : undefined;
    },
    async askLoginShell() {
      if ((await kept)?.fresh) return false;
      const { askLoginShell } = await import('./login-shell.ts');
      const before = await discovery;
      const answer = await askLoginShell(host, processes.run, cache);
      if (!answer) return false;
      kept = Promise.resolve({ ...answer, fresh: true });
      const after = await look(answer);
      discovery = Promise.resolve(after);
      return idsOf(before) !== idsOf(after);
    },
  };
}

const idsOf = (discovery: Discovery): string => [...discovery.installed.keys()].join();
