import type { Config, Settings } from '../core/settings.ts';
import type { Host } from '../machine/host.ts';
import type { Machine } from '../machine/machine.ts';
import type { ProgramFacts } from '../machine/programs/installation.ts';
import type { Processes } from '../machine/processes/process.ts';

/** What `list` and `doctor` look at and print to; replaced in tests. */
export interface World {
  readonly host: Host;
  readonly processes: Processes;
  /** All programs, and what is wrong with files of a person's own. */
  loadManifest(): Promise<{
    readonly programs: readonly ProgramFacts[];
    readonly problems?: readonly string[];
  }>;
  /** Folders whose programs are a project's own. */
  projectRoots(programs: readonly ProgramFacts[]): Promise<readonly string[]>;
  /** Where the operator's settings say that programs are. */
  settings(): Promise<Pick<Settings, 'path' | 'programs'>>;
  print(text: string): void;
  /** Whether the output may be coloured. */
  readonly colour: boolean;
}

/** This computer, all of it looked at: a server answers first and asks later, and a person would rather wait. */
export async function machineOf(
  { host, processes, projectRoots, settings }: World,
  programs: readonly ProgramFacts[],
): Promise<Machine> {
  const { Machine } = await import('../machine/machine.ts');
  const machine = new Machine(host, { programs }, processes, projectRoots(programs), await settings());
  await machine.settle();
  return machine;
}

/** This computer, the real catalogue, and standard output. */
export async function thisWorld(): Promise<World> {
  const [{ thisHost }, { createProcesses }] = await Promise.all([
    import('../machine/host.ts'),
    import('../machine/processes/process.ts'),
  ]);
  const host = thisHost();
  return {
    host,
    processes: createProcesses(host.platform),
    async loadManifest() {
      const { manifest, problems } = await import('./here.ts').then(({ manifestHere }) => manifestHere());
      return { programs: manifest.programs, problems };
    },
    async projectRoots(programs) {
      const { effectiveRoots } = await import('../server/roots.ts');
      return effectiveRoots(
        { operator: [], client: undefined, workingFolder: process.cwd() },
        host,
        programs,
      );
    },
    async settings() {
      const { readConfig } = await import('./config.ts');
      // What is wrong with them is told by doctor, and by each start.
      const { path = [], programs = {} } = await readConfig().catch((): Config => ({}));
      return { path, programs };
    },
    print: (text) => process.stdout.write(text),
    colour: process.stdout.isTTY === true && !host.env['NO_COLOR'],
  };
}
