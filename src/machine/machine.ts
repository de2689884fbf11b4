import type { Settings } from '../core/settings.ts';
import type { Host } from './host.ts';
import type { Discovery, Installation, ProgramFacts, SearchPath } from './programs/installation.ts';
import type { ProgramReport } from './programs/machine-report.ts';
import type { Processes, Run } from './processes/process.ts';
import { childEnvironment } from './environment.ts';
import { whichProgram } from './programs/discovery.ts';
import { KnownPrograms } from './programs/known-programs.ts';

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
  /** What is started for a program; undefined where it is not installed. */
  installation(id: string): Promise<Installation | undefined>;
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
  /**
   * Finds out anew what is installed when a folder of the search path has changed since, or there are other programs to
   * look for: some milliseconds.
   */
  refresh(others?: boolean): Promise<void>;
  /** Calls when `refresh` or `report` has found other programs than were known. */
  onChange(listener: () => void): void;
}

/** Starts finding out what is installed; answers wait for the directory listings alone, some milliseconds. */
export function createMachine(
  host: Host,
  programs: { readonly programs: readonly ProgramFacts[] },
  { run, leave }: Processes,
  roots: readonly string[] | Promise<readonly string[]>,
  settings: Pick<Settings, 'path' | 'programs'> = { path: [], programs: {} },
): Machine {
  const facts = () => programs.programs;
  const known = new KnownPrograms({ host, run, facts, roots, settings });
  return {
    host,
    run,
    leave,
    discovery: () => known.discovery,
    installation: (id) => known.installation(id),
    childEnvironment: async () => childEnvironment.bind(undefined, host, await known.path),
    async report() {
      const [{ discovery, versions }, { reportOf }] = await Promise.all([
        known.checked(),
        import('./programs/machine-report.ts'),
      ]);
      return reportOf(facts(), discovery, versions, host.platform);
    },
    present: async (names) => presentIn(await known.path, names, host),
    async which(name) {
      const found = await whichProgram(name, host, await known.path);
      return 'installed' in found ? found.installed.program : undefined;
    },
    settle: () => known.settle(),
    refresh: (others) => known.refresh(others),
    onChange: (listener) => known.onChange(listener),
  };
}

async function presentIn({ folders }: SearchPath, names: readonly string[], host: Host): Promise<string[]> {
  const lists = await Promise.all(folders.map(({ folder }) => host.list(folder)));
  const found = new Set(lists.flat().map((name) => name.replace(/\.(?:exe|cmd|bat)$/i, '')));
  return names.filter((name) => found.has(name));
}
