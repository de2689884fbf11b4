import { mergeSettings } from '../core/settings.ts';
import { start } from '../server/start.ts';
import { readConfig } from './config.ts';
import { checkToolsets } from './toolsets.ts';
import { checkRoots, parseCommandLine, serveOptions, settingsOf } from './usage.ts';

/** `toolcrib serve`: ends when the host closes our input, or with a signal. */
export async function serveCommand(args: string[]): Promise<number> {
  const { values } = parseCommandLine({ args, options: serveOptions });
  const settings = mergeSettings(settingsOf(values), await readConfig());
  await checkRoots(settings.roots);
  if (settings.toolsets) await checkToolsets(settings.toolsets);
  await start(settings);
  return 0;
}
