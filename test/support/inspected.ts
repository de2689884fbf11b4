import type { Inspection } from '../../src/core/discoverer.ts';
import type { Program } from '../../src/core/program.ts';
import { look } from '../../src/machine/project-files.ts';
import { callAction, saidBy } from './call-action.ts';

interface Place {
  readonly folder: string;
  readonly roots?: readonly string[];
  readonly trusted?: boolean;
  readonly env?: Record<string, string>;
}

/** The findings of an action in its project. */
export async function inspected(
  of: Program,
  action: string,
  { folder, roots = [folder], trusted = false }: Place,
): Promise<Inspection> {
  const { effects } = of.actions[action]!;
  const situation = { action, folder, roots, values: {}, denied: [], effects, trusted: async () => trusted };
  return (await of.inspect?.(look, situation)) ?? {};
}

/** Runs an action with what its inspection says, unless that asks for trust there is not: then `trust` says why. */
export async function runInspected(
  of: Program,
  name: string,
  given: Record<string, unknown>,
  place: Place,
): Promise<{ trust?: string; said: string }> {
  const { trust } = await inspected(of, name, place);
  if (trust !== undefined && !place.trusted) return { trust, said: '' };
  return { said: saidBy(await callAction(of, name, given, place)) };
}
