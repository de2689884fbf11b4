import { realpath } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter } from 'node:path';
import { isInside } from '../paths/inside.ts';

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
