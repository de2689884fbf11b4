import { nearest } from '../core/check-params.ts';
import { mergeSettings } from '../core/settings.ts';
import { loadManifest } from '../server/manifest.ts';
import { start } from '../server/start.ts';
import { readConfig } from './config.ts';
import { checkRoots, parseCommandLine, serveOptions, settingsOf, UsageError } from './usage.ts';

/** `toolcrib serve`: ends when the host closes our input, or with a signal. */
export async function serveCommand(args: string[]): Promise<number> {
  const { values } = parseCommandLine({ args, options: serveOptions });
  const settings = mergeSettings(settingsOf(values), await readConfig());
  await checkRoots(settings.roots);
  if (settings.toolsets) await checkToolsets(settings.toolsets);
  await start(settings);
  return 0;
}

/** A misspelt toolset would silently leave its tools out. */
async function checkToolsets(toolsets: readonly string[]): Promise<void> {
  const { programs } = await loadManifest();
  const known = ['files', 'toolcrib', ...programs.map(({ id }) => id)];
  const wrong = toolsets.find((name) => !known.includes(name));
  if (wrong === undefined) return;
  const best = nearest(wrong, known);
  throw new UsageError(
    `toolset ${wrong}: there is no such toolset${best ? `; did you mean ${best}?` : `; there are ${known.join(', ')}.`}`,
  );
}
