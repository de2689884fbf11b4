import type { Effect } from './discoverer.ts';

/** What the operator allows. */
export interface Limits {
  /** Only what changes nothing; stronger than everything else. */
  readonly readOnly: boolean;
  /** Effects that are off unless named: `destroy`. */
  readonly allow: readonly Effect[];
}

/** Why an action is not allowed, naming the setting that decides; undefined when it is. Pure. */
export function refusalOf(effects: readonly Effect[], limits: Limits): string | undefined {
  const changing = effects.filter((effect) => effect !== 'read' && effect !== 'network');
  if (limits.readOnly && changing.length > 0) return 'the server was started with --read-only';
  if (effects.includes('destroy') && !limits.allow.includes('destroy')) {
    return 'it can lose work for good, and the server was started without --allow destroy';
  }
  return undefined;
}
