import { dirname, join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { config } from 'zod';
import type { Settings } from '../../core/settings.ts';
import { LocalEnvironment, type Environment } from '../../machine/environment.ts';
import { createProcesses } from '../../machine/processes/process.ts';
import { evidenceIn } from '../../machine/programs/evidence.ts';
import { userFolder } from '../../machine/user-folders.ts';
import { loadManifest } from '../registry/manifest.ts';
import type { DependencyTracker } from '../start/dependency-tracker.ts';
import { effectiveRoots } from './roots.ts';
import { withUserPrograms, type ProgramFolder } from './user-programs.ts';

/**
 * Finds this machine, and what can be offered on it. `programs`: where a person describes programs of their
 * own.
 */
export async function detectEnvironment(
  settings: Settings,
  tracker: DependencyTracker,
  programs: ProgramFolder,
): Promise<Environment> {
  // Compiled validators pay off after some hundred messages, and a start has three. To be said before the SDK
  // makes its schemas: it is loaded later.
  config({ jitless: true });
  const { host } = tracker;
  const processes = createProcesses(host.platform, settings.budgets.memoryPercent);
  const built = await loadManifest();
  // A project's own programs must not be found as the machine's: those of the roots as far as they are known
  // now. What a client says later is looked at with each call.
  const roots = effectiveRoots(settings.roots, undefined, host, built.programs);
  const ofProjects = await projectFolders(programs, await roots, tracker);
  const { catalogue, userPrograms, problems } = await withUserPrograms(built, [programs, ...ofProjects]);
  const evidence = roots.then((folders) => evidenceIn(folders, catalogue.programs, host));
  const environment = new LocalEnvironment({
    host,
    catalogue,
    userPrograms,
    problems,
    roots,
    evidence,
    processes,
    settings,
  });
  // The disk is asked while the SDK is loaded, which takes this thread some 25 ms.
  await turn();
  return environment;
}

/** The folders of programs of projects that are trusted: these count as code of the project. */
async function projectFolders(
  own: ProgramFolder,
  roots: readonly string[],
  { host, noteFile }: DependencyTracker,
): Promise<readonly ProgramFolder[]> {
  const ofProjects = roots.map((root) => join(root, '.toolcrib'));
  const present: string[] = [];
  for (const folder of [own.folder, ...ofProjects]) {
    noteFile(folder);
    const names = await host.list(folder);
    for (const name of names) noteFile(join(folder, name));
    if (names.length > 0 && folder !== own.folder) present.push(folder);
  }
  if (present.length === 0) return [];
  const { createTrust } = await import('../../machine/trust/trust.ts');
  const trust = createTrust({ folder: userFolder('state', host) });
  const trusted = await Promise.all(present.map((folder) => trust.isTrusted(dirname(folder))));
  const least = ['execute'] as const;
  return present.filter((_, at) => trusted[at]).map((folder) => ({ folder, least }));
}
