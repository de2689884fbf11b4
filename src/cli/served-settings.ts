import { realpath } from 'node:fs/promises';
import { resolve } from 'node:path';
import { ToolcribError } from '../core/errors.ts';
import { mergeSettings, type Settings } from '../core/settings.ts';
import { createProjectConfigs } from '../machine/config/project-config.ts';
import { shownPath } from '../machine/paths/shown-path.ts';
import { configFile, readConfig } from './config.ts';
import { checkRules, checkToolsets, knownNames } from './toolsets.ts';
import { checkRoots, parseCommandLine, serveOptions, settingsOf, UsageError } from './usage.ts';

/**
 * What a command line and the operator's file say. Throws UsageError when a server does not start with it. One that has
 * `answered` already goes on where a project's settings cannot be understood: its calls are refused, and say why.
 */
export async function servedSettings(args: string[], { answered = false } = {}): Promise<Settings> {
  const { values } = parseCommandLine({ args, options: serveOptions });
  const given = settingsOf(values);
  const settings = mergeSettings(given, await readConfig(undefined, { known: knownNames }));
  await checkRoots(settings.roots, given.roots ? undefined : `${shownPath(configFile())}: roots:`);
  await checkRoots(Object.keys(settings.folders), `${shownPath(configFile())}: folders:`);
  if (given.toolsets) await checkToolsets(given.toolsets);
  if (given.rules?.length) await checkRules(given.rules);
  if (!answered) await checkProjects(settings);
  return settings;
}

/**
 * Calls in a project whose settings cannot be understood are refused; where the project is known, that is said at
 * once.
 */
async function checkProjects(settings: Settings): Promise<void> {
  if (settings.roots.length === 0) return;
  const roots = await Promise.all(settings.roots.map((root) => realpath(resolve(root))));
  try {
    await createProjectConfigs(knownNames).narrowedRoots(roots);
  } catch (error) {
    throw error instanceof ToolcribError ? new UsageError(error.message) : error;
  }
}
