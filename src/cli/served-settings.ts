import { nearest } from '../core/nearest.ts';
import { unknownTool } from '../core/rule.ts';
import { mergeSettings, type Config, type Settings } from '../core/settings.ts';
import type { KnownNames } from '../machine/config/check-config.ts';
import { displayPath } from '../machine/paths/display-path.ts';
import { namesIn } from '../machine/catalogue.ts';
import { configFile, readConfig } from './config.ts';
import { catalogueHere } from './here.ts';
import { checkRoots, settingsOf, UsageError, type ServeValues } from './usage.ts';

/**
 * Merges the settings of a command line with the operator's file. Throws UsageError for settings that no
 * server starts with.
 */
export async function servedSettings(values: ServeValues): Promise<Settings> {
  const fromOptions = settingsOf(values);
  const settings = mergeSettings(fromOptions, await readConfig(undefined, { known: knownNames }));
  await checkRoots(settings.roots, fromOptions.roots ? undefined : `${displayPath(configFile())}: roots:`);
  await checkRoots(Object.keys(settings.folders), `${displayPath(configFile())}: folders:`);
  await checkNames(fromOptions);
  return settings;
}

/** The names of all tools and toolsets, whether or not they work on this machine. */
export async function knownNames(): Promise<KnownNames> {
  return namesIn((await catalogueHere()).catalogue);
}

/**
 * Checks the names of toolsets and of the tools in rules. A misspelt toolset would silently leave its tools
 * out, and a misspelt rule leave open what it is to close. Throws UsageError.
 */
export async function checkNames({ toolsets = [], rules = [] }: Config): Promise<void> {
  if (toolsets.length + rules.length === 0) return;
  const names = await knownNames();
  const wrong = toolsets.find((name) => !names.toolsets.includes(name));
  if (wrong !== undefined) {
    const best = nearest(wrong, names.toolsets);
    const hint = best ? `did you mean ${best}?` : `there are ${names.toolsets.join(', ')}.`;
    throw new UsageError(`toolset ${wrong}: there is no such toolset; ${hint}`);
  }
  for (const { pattern, setting } of rules) {
    const unknown = unknownTool(pattern, names.tools);
    if (unknown !== undefined) throw new UsageError(`${setting}: ${unknown}`);
  }
}
