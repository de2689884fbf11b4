import { mergeSettings, type Config, type Settings } from '../core/settings.ts';
import { thisHost } from '../machine/host.ts';
import type { Environment } from '../machine/environment.ts';
import { detectEnvironment } from '../server/environment/detect-environment.ts';
import { trackDependencies } from '../server/start/dependency-tracker.ts';
import { readConfig } from './config.ts';
import { ownProgramFolder } from './here.ts';

/**
 * This computer, all of it looked at: a server answers first and asks later, and a person would rather wait.
 * What is wrong with the settings, where none are given, is told by doctor, and by each start.
 */
export async function machineHere(given?: Settings): Promise<Environment> {
  const settings = given ?? mergeSettings({}, await readConfig().catch((): Config => ({})));
  const environment = await detectEnvironment(settings, trackDependencies(thisHost()), ownProgramFolder());
  await environment.settle();
  return environment;
}
