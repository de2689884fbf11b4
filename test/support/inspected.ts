import { spawnSync } from 'node:child_process';
import * as z from 'zod';
import { renderArgv } from '../../src/core/argv.ts';
import type { AnyDiscoverer, Inspection } from '../../src/core/discoverer.ts';
import { look } from '../../src/machine/actions/look.ts';

interface Place {
  readonly folder: string;
  readonly roots?: readonly string[];
  readonly trusted?: boolean;
  readonly env?: Readonly<Record<string, string>>;
}

/** What an action finds in its project. */
export async function inspected(
  discoverer: AnyDiscoverer,
  action: string,
  { folder, roots = [folder], trusted = false }: Place,
): Promise<Inspection> {
  const { effects } = discoverer.actions[action]!;
  return (
    (await discoverer.inspect?.(look, {
      action,
      folder,
      roots,
      values: {},
      denied: [],
      effects,
      trusted: () => Promise.resolve(trusted),
    })) ?? {}
  );
}

/** Runs an action with what its inspection says, unless that asks for trust there is not: then `trust` says why. */
export async function runInspected(
  discoverer: AnyDiscoverer,
  name: string,
  given: Record<string, unknown>,
  place: Place,
): Promise<{ trust?: string; said: string; status: number | null }> {
  const action = discoverer.actions[name]!;
  if (!('argv' in action)) throw new Error(`${name} runs no program`);
  const values = z.strictObject(action.params as Record<string, z.ZodType>).parse(given);
  const { argv = [], env = {}, trust } = await inspected(discoverer, name, place);
  if (trust !== undefined && !place.trusted) return { trust, said: '', status: null };
  const leading = [...(discoverer.hardening ?? []), ...argv, ...(discoverer.prefix ?? [])];
  const ended = spawnSync(discoverer.programs[0]!, [...leading, ...renderArgv(action.argv, values)], {
    cwd: place.folder,
    encoding: 'utf8',
    env: {
      ...process.env,
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_TERMINAL_PROMPT: '0',
      GIT_ASKPASS: '',
      GIT_EDITOR: ':',
      ...discoverer.settings,
      ...place.env,
      ...env,
    },
  });
  return { said: ended.stdout + ended.stderr, status: ended.status };
}
