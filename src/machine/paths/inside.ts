import * as thisPlatform from 'node:path';

type Paths = Pick<typeof thisPlatform, 'relative' | 'isAbsolute' | 'sep'>;

/**
 * True where a path is the folder or lies below it, compared by steps: `/w/app-secret` is not in `/w/app`.
 */
export function isInside(path: string, folder: string, paths: Paths = thisPlatform): boolean {
  const steps = paths.relative(folder, path);
  return steps !== '..' && !steps.startsWith(`..${paths.sep}`) && !paths.isAbsolute(steps);
}

/** The folders that both lists hold: of each pair, the one inside the other. */
export function intersection(some: readonly string[], others: readonly string[]): string[] {
  const both = others.flatMap((folder) =>
    some.flatMap((top) => (isInside(folder, top) ? [folder] : isInside(top, folder) ? [top] : [])),
  );
  return [...new Set(both)];
}

/** The outermost of the folders that a path lies in. */
export const outermost = (path: string, folders: readonly string[]): string | undefined =>
  folders.filter((folder) => isInside(path, folder)).toSorted((a, b) => a.length - b.length)[0];
