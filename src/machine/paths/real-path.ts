import { lstat, readlink, realpath, stat } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, sep } from 'node:path';

/** Where a path leads. */
export interface Location {
  /** Without symbolic links. For what does not exist: where it would come to be. */
  readonly real: string;
  /** Why the system could not follow the path to its end (ENOENT, EACCES, ELOOP…); undefined when it could. */
  readonly missing?: string;
}

/** As many as Linux follows. */
const mostLinks = 40;
/** So many steps back are tried one by one. */
const singleSteps = 3;

/**
 * Follows an absolute path the way the system does: links first, then `..`. Where that ends early, the deepest
 * ancestor that exists decides, and a link to nothing is followed to where its target would be. Throws the system's
 * error when not even the root can be followed.
 */
export async function locate(path: string, followed = 0): Promise<Location> {
  const missing: string[] = [];
  let failure: string | undefined;
  for (let ancestor = path; ;) {
    try {
      const real = await realpath(ancestor);
      return failure === undefined ? { real } : await beyond(real, missing, failure, followed);
    } catch (error) {
      if (ancestor === dirname(ancestor)) throw error;
      failure ??= codeOf(error);
    }
    const above = missing.length < singleSteps ? dirname(ancestor) : await deepestAbove(ancestor);
    for (; ancestor !== above; ancestor = dirname(ancestor)) missing.unshift(basename(ancestor));
  }
}

/**
 * The deepest ancestor that can be followed, or the root. Halving, and without its real path: of a thousand steps each of
 * these would take a call of the system for every one.
 */
async function deepestAbove(path: string): Promise<string> {
  const ancestors: string[] = [];
  for (let here = path; here !== dirname(here);) ancestors.push((here = dirname(here)));
  let [from, to] = [0, ancestors.length - 1];
  while (from < to) {
    const middle = (from + to) >> 1;
    const isThere = await stat(ancestors[middle] ?? path).then(
      () => true,
      () => false,
    );
    // What cannot be followed up to a folder cannot be followed further.
    if (isThere) to = middle;
    else from = middle + 1;
  }
  return ancestors[to] ?? dirname(path);
}

/** The code of a failed system call; throws what is none. */
export function codeOf(error: unknown): string {
  const code = (error as NodeJS.ErrnoException).code;
  if (typeof code !== 'string') throw error;
  return code;
}

async function beyond(
  real: string,
  names: readonly string[],
  failure: string,
  followed: number,
): Promise<Location> {
  // Below nothing there is no way up: a `..` after a missing name must not climb out of the ancestor.
  if (names.includes('..')) return { real, missing: 'ENOTDIR' };
  const wanted = names.filter((name) => name !== '.');
  const first = join(real, wanted[0] ?? '.');
  const target = failure === 'ENOENT' ? await linkTarget(first) : undefined;
  if (target === undefined) return { real: join(real, ...wanted), missing: failure };
  if (followed >= mostLinks) return { real: first, missing: 'ELOOP' };
  // Not join(): it would take `link/..` away before the link was followed.
  const next = [isAbsolute(target) ? target : real + sep + target, ...wanted.slice(1)].join(sep);
  return locate(next, followed + 1);
}

async function linkTarget(path: string): Promise<string | undefined> {
  const found = await lstat(path).catch(() => undefined);
  // It may vanish between the two; then it is no link any more.
  return found?.isSymbolicLink() ? readlink(path).catch(() => undefined) : undefined;
}
