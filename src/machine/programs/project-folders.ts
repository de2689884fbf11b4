import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { upwards } from '../../core/upwards.ts';
import { isInside } from '../paths/inside.ts';
import { realPath } from '../paths/real-path.ts';
import { isExecutable } from './is-executable.ts';

/** What lies in the project, where whoever wrote that has put it. */
export interface ProjectFolders {
  /** Whether a program lies there, by its path or by what that leads to. */
  holds(program: string): boolean;
  /** A PATH without such folders: a program of ours must not find another one there by its bare name. */
  pathWithout(path: string): string;
}

/** The roots that are projects. One that holds the home folder is none: a person's own programs are there. */
export function projectFolders(roots: readonly string[]): ProjectFolders {
  const home = realPath(homedir());
  const projects = roots.filter((root) => !isInside(home, root));
  const lies = (path: string) => projects.some((root) => isInside(path, root));
  const kept = (path: string) => path.split(delimiter).filter((folder) => !lies(folder));
  return {
    holds: (program) => lies(program) || lies(realPath(program)),
    pathWithout: (path) => kept(path).join(delimiter),
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
