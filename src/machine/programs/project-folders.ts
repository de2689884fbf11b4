import { accessSync, constants, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { upwards } from '../../core/upwards.ts';
import { isInside } from '../paths/inside.ts';
import { realPath } from '../paths/real-path.ts';

/**
 * The folders of projects, whose programs whoever wrote the project has chosen. A root that holds the home
 * folder is no project: a person's own programs are there.
 */
export function projectFolders(roots: readonly string[]) {
  const home = realPath(homedir());
  const projects = roots.filter((root) => !isInside(home, root));
  const isInProject = (path: string) => projects.some((root) => isInside(path, root));
  return {
    /** True where a program lies in a project, by its path or by what that leads to. */
    holds: (program: string): boolean => isInProject(program) || isInProject(realPath(program)),
    /**
     * Removes the folders of projects from a PATH, so that a program finds no other there by its bare name.
     */
    pathWithout: (path: string): string =>
      path
        .split(delimiter)
        .filter((folder) => !isInProject(folder))
        .join(delimiter),
  };
}

/**
 * Finds a project's own copy of a program: the first of these paths that exists, from the folder upwards,
 * then below a variable.
 */
export function ownProgram(
  paths: readonly string[],
  folder: string,
  roots: readonly string[],
  env: Readonly<Record<string, string>> = {},
): string | undefined {
  const relative = paths.filter((path) => !path.startsWith('$'));
  const below = upwards(folder, roots).flatMap((ancestor) => relative.map((path) => join(ancestor, path)));
  const belowVariables = paths.flatMap((path) => {
    const [, name = '', rest] = /^\$(\w+)\/(.+)$/.exec(path) ?? [];
    return rest && env[name] ? [join(env[name], rest)] : [];
  });
  return [...below, ...belowVariables].find(isExecutable);
}

/**
 * True where a path leads to a file that we may run. Takes some microseconds, less than asking another
 * thread.
 */
export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    // The file does not exist, or we may not run it.
    return false;
  }
}
