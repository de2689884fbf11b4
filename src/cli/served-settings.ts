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
 * The settings of a command line and of the operator's file. Throws UsageError for what no server starts
 * with.
 */
export async function servedSettings(values: ServeValues): Promise<Settings> {
  const given = settingsOf(values);
  const settings = mergeSettings(given, await readConfig(undefined, { known: knownNames }));
  await checkRoots(settings.roots, given.roots ? undefined : `${displayPath(configFile())}: roots:`);
  await checkRoots(Object.keys(settings.folders), `${displayPath(configFile())}: folders:`);
  await checkNames(given);
  return settings;
}

/** The tools and toolsets that there are, on this machine or not. */
export async function knownNames(): Promise<KnownNames> {
  return namesIn((await catalogueHere()).catalogue);
}

/**
 * A misspelt toolset would silently leave its tools out, and a misspelt rule leave open what it is to close.
 */
export async function checkNames({ toolsets = [], rules = [] }: Config): Promise<void> {
  if (toolsets.length + rules.length === 0) return;
  const known = await knownNames();
  const wrong = toolsets.find((name) => !known.toolsets.includes(name));
  const best = wrong && nearest(wrong, known.toolsets);
  const hint = best ? `did you mean ${best}?` : `there are ${known.toolsets.join(', ')}.`;
  if (wrong !== undefined) throw new UsageError(`toolset ${wrong}: there is no such toolset; ${hint}`);
  for (const { pattern, setting } of rules) {
    const unknown = unknownTool(pattern, known.tools);
    if (unknown !== undefined) throw new UsageError(`${setting}: ${unknown}`);
  }
}
