import * as thisPlatform from 'node:path';

type Paths = Pick<typeof thisPlatform, 'relative' | 'isAbsolute' | 'sep'>;

/** Whether a path is a folder or lies below it, by its steps: `/w/app-secret` is not in `/w/app`. */
export function isInside(path: string, folder: string, paths: Paths = thisPlatform): boolean {
  const steps = paths.relative(folder, path);
  return steps !== '..' && !steps.startsWith(`..${paths.sep}`) && !paths.isAbsolute(steps);
}

/** What both lists of folders hold: of each pair, the one inside the other. */
export function intersection(some: readonly string[], others: readonly string[]): string[] {
  const both = others.flatMap((folder) =>
    some.flatMap((top) => (isInside(folder, top) ? [folder] : isInside(top, folder) ? [top] : [])),
  );
  return [...new Set(both)];
}

/** Of several folders that a path lies in, the one that holds the others. */
export const outermost = (path: string, folders: readonly string[]): string | undefined =>
  folders.filter((folder) => isInside(path, folder)).toSorted((a, b) => a.length - b.length)[0];
