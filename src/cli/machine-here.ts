import { mergeSettings, type Config, type Settings } from '../core/settings.ts';
import { thisHost } from '../machine/host.ts';
import type { Environment } from '../machine/environment.ts';
import { detectEnvironment } from '../server/environment/detect-environment.ts';
import { trackDependencies } from '../server/start/dependency-tracker.ts';
import { readConfig } from './config.ts';
import { ownProgramFolder } from './here.ts';

/**
 * Detects the environment of this computer completely: a server answers first and finds out more later, but a
 * person at the terminal would rather wait. Invalid settings count as none here, because doctor and each
 * start report them.
 */
export async function machineHere(given?: Settings): Promise<Environment> {
  const settings = given ?? mergeSettings({}, await readConfig().catch((): Config => ({})));
  const environment = await detectEnvironment(settings, trackDependencies(thisHost()), ownProgramFolder());
  await environment.settle();
  return environment;
}
