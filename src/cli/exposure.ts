import { signsIn } from '../server/exposure.ts';
import { createOffered } from '../server/offered.ts';
import { effectiveRoots } from '../server/roots.ts';
import { manifestHere } from './here.ts';
import { servedSettings } from './served-settings.ts';
import { table } from './table.ts';
import { machineOf, thisWorld } from './this-world.ts';

/** `toolcrib exposure [options of serve]`: what a host would be shown in this folder, and why. */
export async function exposure(args: string[], world = thisWorld()): Promise<number> {
  const here = await world;
  const { host, print } = here;
  const settings = await servedSettings(args);
  const { manifest } = await manifestHere();
  const sources = { operator: settings.roots, client: undefined, workingFolder: process.cwd() };
  const roots = await effectiveRoots(sources, host, manifest.programs);
  const ofServer = { ...here, projectRoots: async () => roots, settings: async () => settings };
  const machine = await machineOf(ofServer, manifest.programs);
  const offered = createOffered(manifest, machine, settings, signsIn(roots, manifest.programs, host));
  const [{ listed, programs }, callable] = await Promise.all([offered.exposure(), offered.callable()]);
  const own = listed.filter(({ action }) => action === undefined).length;
  const countOf = (id: string) =>
    callable.filter((tool) => tool.action !== undefined && tool.program === id).length;
  const rows = [...programs].map(([id, { listed: many, why }]) => [
    id,
    many > 0 ? `${many} of ${countOf(id)} listed` : `${countOf(id)} by find_actions`,
    why,
  ]);
  print(
    `${listed.length} of ${callable.length} tools are listed: ${own} of our own, ${listed.length - own} of programs\n`,
  );
  print(table(rows, '  '));
  return 0;
}
