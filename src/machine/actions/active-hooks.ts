import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { isExecutable } from '../programs/is-executable.ts';
import type { FoundRepository } from './repository.ts';

/**
 * Which of `names` are hooks that the repository would run now: files that can be started, in `folder` of its data, or
 * in `elsewhere`, which may begin with `~/` and is otherwise relative to the top of the work tree.
 */
export async function activeHooks(
  names: readonly string[],
  { top, data }: FoundRepository,
  folder: string,
  elsewhere: string | undefined,
): Promise<string[]> {
  const place = elsewhere ? placeOf(elsewhere, top) : join(data, folder);
  const there = await Promise.all(names.map((name) => isExecutable(join(place, name))));
  return names.filter((_, index) => there[index]);
}

function placeOf(named: string, top: string): string {
  if (named.startsWith('~/')) return join(homedir(), named.slice(2));
  return isAbsolute(named) ? named : join(top, named);
}
