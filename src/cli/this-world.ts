import type { Host } from '../machine/host.ts';
import type { ProgramFacts } from '../machine/programs/installation.ts';
import type { Processes } from '../machine/processes/process.ts';

/** What `list` and `doctor` look at and print to; replaced in tests. */
export interface World {
  readonly host: Host;
  readonly processes: Processes;
  loadManifest(): Promise<{ readonly programs: readonly ProgramFacts[] }>;
  /** Folders whose programs are a project's own. */
  projectRoots(programs: readonly ProgramFacts[]): Promise<readonly string[]>;
  print(text: string): void;
  /** Whether the output may be coloured. */
  readonly colour: boolean;
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
    loadManifest: () => import('../server/manifest.ts').then(({ loadManifest }) => loadManifest()),
    async projectRoots(programs) {
      const { effectiveRoots } = await import('../server/roots.ts');
      return effectiveRoots(
        { operator: [], client: undefined, workingFolder: process.cwd() },
        host,
        programs,
      );
    },
    print: (text) => process.stdout.write(text),
    colour: process.stdout.isTTY === true && !host.env['NO_COLOR'],
  };
}
