import { realpath } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter } from 'node:path';
import { isInside } from './inside.ts';

/**
 * Whether a program lies in the project, where whoever wrote that has put it. A root that holds the home folder is no
 * project: a person's own programs are there.
 */
export async function isInProject(program: string, roots: readonly string[]): Promise<boolean> {
  const real = await realpath(program).catch(() => program);
  return (await projectsOf(roots)).some((root) => isInside(program, root) || isInside(real, root));
}

/** A PATH without the folders of the project: a program of ours must not find another one there by its bare name. */
export async function pathOutside(path: string, roots: readonly string[]): Promise<string> {
  const projects = await projectsOf(roots);
  const folders = path.split(delimiter).filter((folder) => !projects.some((root) => isInside(folder, root)));
  return folders.join(delimiter);
}

async function projectsOf(roots: readonly string[]): Promise<string[]> {
  const home = await realpath(homedir()).catch(() => homedir());
  return roots.filter((root) => !isInside(home, root));
}
