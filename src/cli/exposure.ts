import { createToolRegistry } from '../server/registry/tool-registry.ts';
import { machineHere } from './machine-here.ts';
import { print, table } from './print.ts';
import { servedSettings } from './served-settings.ts';
import { parseCommandLine, serveOptions } from './usage.ts';

/**
 * Runs `toolcrib exposure [options of serve]`: shows which tools a host would see in this folder, and why.
 */
export async function exposure(args: string[]): Promise<number> {
  const settings = await servedSettings(parseCommandLine({ args, options: serveOptions }).values);
  const tools = createToolRegistry(await machineHere(settings), settings);
  const [{ listed, programs }, callable] = await Promise.all([tools.listed(), tools.callable()]);
  const own = listed.filter(({ action }) => action === undefined).length;
  const rows = [...programs].map(([id, { listed: count, why }]) => {
    const total = callable.filter((tool) => tool.action !== undefined && tool.program === id).length;
    return [id, count > 0 ? `${count} of ${total} listed` : `${total} by find_actions`, why];
  });
  const ofPrograms = listed.length - own;
  print(
    `${listed.length} of ${callable.length} tools are listed: ${own} of our own, ${ofPrograms} of programs\n`,
  );
  return print(table(rows, '  '));
}
