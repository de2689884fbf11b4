import { createToolRegistry } from '../server/registry/tool-registry.ts';
import { machineHere } from './machine-here.ts';
import { print, table } from './print.ts';
import { servedSettings } from './served-settings.ts';
import { parseCommandLine, serveOptions } from './usage.ts';

/** `toolcrib exposure [options of serve]`: what a host would be shown in this folder, and why. */
export async function exposure(args: string[]): Promise<number> {
  const settings = await servedSettings(parseCommandLine({ args, options: serveOptions }).values);
  const tools = createToolRegistry(await machineHere(settings), settings);
  const [{ listed, programs }, callable] = await Promise.all([tools.listed(), tools.callable()]);
  const own = listed.filter(({ action }) => action === undefined).length;
  const rows = [...programs].map(([id, { listed: many, why }]) => {
    const all = callable.filter((tool) => tool.action !== undefined && tool.program === id).length;
    return [id, many > 0 ? `${many} of ${all} listed` : `${all} by find_actions`, why];
  });
  const ofPrograms = listed.length - own;
  print(
    `${listed.length} of ${callable.length} tools are listed: ${own} of our own, ${ofPrograms} of programs\n`,
  );
  return print(table(rows, '  '));
}
