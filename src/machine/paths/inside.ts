import * as thisPlatform from 'node:path';

type Paths = Pick<typeof thisPlatform, 'relative' | 'isAbsolute' | 'sep'>;

/** Whether a path is a folder or lies below it, by its steps: `/w/app-secret` is not in `/w/app`. */
export function isInside(path: string, folder: string, paths: Paths = thisPlatform): boolean {
  const steps = paths.relative(folder, path);
  return steps !== '..' && !steps.startsWith(`..${paths.sep}`) && !paths.isAbsolute(steps);
}
