import { accessSync, constants, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { upwards } from '../../core/upwards.ts';
import { isInside } from '../paths/inside.ts';
import { realPath } from '../paths/real-path.ts';

/**
 * What lies in the project, where whoever wrote that has put it. A root that holds the home folder is no project: a
 * person's own programs are there.
 */
export function projectFolders(roots: readonly string[]) {
  const home = realPath(homedir());
  const projects = roots.filter((root) => !isInside(home, root));
  const lies = (path: string) => projects.some((root) => isInside(path, root));
  const kept = (path: string) => path.split(delimiter).filter((folder) => !lies(folder));
  return {
    /** Whether a program lies there, by its path or by what that leads to. */
    holds: (program: string): boolean => lies(program) || lies(realPath(program)),
    /** A PATH without such folders: a program of ours must not find another one there by its bare name. */
    pathWithout: (path: string): string => kept(path).join(delimiter),
  };
}

/** A project's own copy of a program: the first of these places, from the folder upwards, then by a variable. */
export function ownProgram(
  places: readonly string[],
  folder: string,
  roots: readonly string[],
  env: Readonly<Record<string, string>> = {},
): string | undefined {
  const below = upwards(folder, roots).flatMap((here) =>
    places.filter((place) => !place.startsWith('$')).map((place) => join(here, place)),
  );
  const named = places.flatMap((place) => {
    const [, name = '', rest] = /^\$(\w+)\/(.+)$/.exec(place) ?? [];
    return rest && env[name] ? [join(env[name], rest)] : [];
  });
  return [...below, ...named].find(isExecutable);
}

/** Whether a path leads to a file that we may run. Some microseconds, less than another thread takes to be asked. */
export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    // Not there, or not for us.
    return false;
  }
}
