import { nearest } from '../core/nearest.ts';
import type { KnownNames } from '../machine/config/check-config.ts';
import { unknownTool, type Rule } from '../core/rule.ts';
import { namesIn } from '../server/published.ts';
import { manifestHere } from './here.ts';
import { UsageError } from './usage.ts';

/** The tools and toolsets that there are, on this machine or not. */
export async function knownNames(): Promise<KnownNames> {
  return namesIn((await manifestHere()).manifest);
}

/** A misspelt toolset would silently leave its tools out. */
export async function checkToolsets(toolsets: readonly string[]): Promise<void> {
  const { toolsets: known } = await knownNames();
  const wrong = toolsets.find((name) => !known.includes(name));
  if (wrong === undefined) return;
  const best = nearest(wrong, known);
  const hint = best ? `did you mean ${best}?` : `there are ${known.join(', ')}.`;
  throw new UsageError(`toolset ${wrong}: there is no such toolset; ${hint}`);
}

/** A misspelt rule would silently leave open what it is to close. */
export async function checkRules(rules: readonly Rule[]): Promise<void> {
  const { tools } = await knownNames();
  for (const { pattern, setting } of rules) {
    const wrong = unknownTool(pattern, tools);
    if (wrong !== undefined) throw new UsageError(`${setting}: ${wrong}`);
  }
}
