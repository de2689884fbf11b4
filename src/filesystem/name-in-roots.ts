import { relative, sep } from 'node:path';
import { isInside } from '../machine/paths/inside.ts';

/** An absolute path as the next call can take it: relative to the first root where it is inside, else absolute. */
export function nameInRoots(path: string, roots: readonly string[]): string {
  const [home] = roots;
  if (home === undefined || !isInside(path, home)) return path;
  return relative(home, path).replaceAll(sep, '/') || '.';
}
