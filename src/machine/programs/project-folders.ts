import { realpath } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { upwards } from '../../core/upwards.ts';
import { isInside } from '../paths/inside.ts';
import { isExecutable } from './is-executable.ts';

/** What lies in the project, where whoever wrote that has put it. */
export interface ProjectFolders {
  /** Whether a program lies there, by its path or by what that leads to. */
  holds(program: string): Promise<boolean>;
  /** A PATH without such folders: a program of ours must not find another one there by its bare name. */
  pathWithout(path: string): string;
}

/** The roots that are projects. One that holds the home folder is none: a person's own programs are there. */
export async function projectFolders(roots: readonly string[]): Promise<ProjectFolders> {
  const home = await realpath(homedir()).catch(() => homedir());
  const projects = roots.filter((root) => !isInside(home, root));
  const lies = (path: string) => projects.some((root) => isInside(path, root));
  const kept = (path: string) => path.split(delimiter).filter((folder) => !lies(folder));
  return {
    holds: async (program) => lies(program) || lies(await realpath(program).catch(() => program)),
    pathWithout: (path) => kept(path).join(delimiter),
  };
}

/** A project's own copy of a program: the first of these places, from the folder upwards, then by a variable. */
export async function ownProgram(
  places: readonly string[],
  folder: string,
  roots: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<string | undefined> {
  const below = upwards(folder, roots).flatMap((here) =>
    places.filter((place) => !place.startsWith('$')).map((place) => join(here, place)),
  );
  const named = places.flatMap((place) => {
    const [, name = '', rest] = /^\$(\w+)\/(.+)$/.exec(place) ?? [];
    return rest && env[name] ? [join(env[name], rest)] : [];
  });
  for (const place of [...below, ...named]) if (await isExecutable(place)) return place;
  return undefined;
}
