import type { Config, Settings } from '../core/settings.ts';
import { thisHost } from '../machine/host.ts';
import { Machine } from '../machine/machine.ts';
import { createProcesses } from '../machine/processes/process.ts';
import { effectiveRoots } from '../server/roots.ts';
import { readConfig } from './config.ts';
import { manifestHere } from './here.ts';

/**
 * This computer, all of it looked at (a server answers first and asks later, and a person would rather wait), with the
 * catalogue, and the folders that a server with these settings would have here.
 */
export async function machineHere(given?: Settings) {
  const host = thisHost();
  const { manifest, problems } = await manifestHere();
  // What is wrong with them is told by doctor, and by each start.
  const { path = [], programs = {} } = given ?? (await readConfig().catch((): Config => ({})));
  const sources = { operator: given?.roots ?? [], client: undefined, workingFolder: process.cwd() };
  const roots = await effectiveRoots(sources, host, manifest.programs);
  const machine = new Machine(host, manifest, createProcesses(host.platform), roots, { path, programs });
  await machine.settle();
  return { machine, manifest, problems, roots };
}
