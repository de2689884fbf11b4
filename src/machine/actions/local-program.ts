import { join } from 'node:path';
import type { AnyDiscoverer } from '../../core/discoverer.ts';
import { isExecutable } from '../programs/is-executable.ts';
import { upwards } from '../upwards.ts';

/**
 * A project's own copy of a program: the first of the discoverer's places that exists, looked for from `folder` up to
 * the root that contains it. Undefined when there is none.
 */
export async function localProgram(
  local: AnyDiscoverer['local'],
  folder: string,
  roots: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<string | undefined> {
  if (!local) return undefined;
  const places = process.platform === 'win32' ? local.win32 : local.posix;
  for (const here of upwards(folder, roots)) {
    for (const place of places) {
      if (!place.startsWith('$') && (await isExecutable(join(here, place)))) return join(here, place);
    }
  }
  for (const place of places) {
    const [, name, rest] = /^\$(\w+)\/(.+)$/.exec(place) ?? [];
    const base = name && env[name];
    if (base && rest && (await isExecutable(join(base, rest)))) return join(base, rest);
  }
  return undefined;
}
