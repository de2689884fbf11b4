import { dirname } from 'node:path';

/** A folder and those above it, up to the root that contains it. */
export function upwards(folder: string, roots: readonly string[]): string[] {
  const folders = [folder];
  for (let here = folder; !roots.includes(here) && dirname(here) !== here;) {
    here = dirname(here);
    folders.push(here);
  }
  return folders;
}
