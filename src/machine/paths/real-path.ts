import { readlinkSync, realpathSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, sep } from 'node:path';

/** The result of following a path. */
export interface Location {
  /** The path without symbolic links; for what does not exist, the path at which it would be made. */
  readonly real: string;
  /** The part of it that exists: the path itself, or the deepest folder on the way. */
  readonly there: string;
  /**
   * The system's error code where the path could not be followed to its end (ENOENT, EACCES, ELOOP…);
   * undefined where it could.
   */
  readonly missing?: string;
}

/** The most links that are followed, as on Linux. */
const mostLinks = 40;

/**
 * Follows an absolute path the way the system does: links first, then `..`. Where that ends early, a link to
 * nothing is followed to where its target would be. Without `follow` a link at the end is itself the result;
 * of other names the real one counts, which may differ (`GIT~1`).
 */
export function locate(path: string, { follow = true } = {}): Location {
  if (!follow && targetOf(path) !== undefined) {
    const { real, there, missing } = followed(dirname(path));
    if (missing === undefined) return { real: join(real, basename(path)), there };
  }
  return followed(path);
}

/** The real path, also of what does not exist yet. */
export const realPath = (path: string): string => followed(path).real;

/** Follows a path synchronously, because a request to another thread would take longer. */
function followed(path: string, links = 0): Location {
  try {
    const real = realpathSync.native(path);
    return { real, there: real };
  } catch (error) {
    const code = codeOf(error);
    const folder = dirname(path);
    const name = basename(path);
    if (folder === path) return { real: path, there: path, missing: code };
    const { real, there, missing } = followed(folder, links);
    // Below a missing folder there is no way up: a `..` after a missing name must not climb out.
    if (name === '..') return { real: there, there, missing: 'ENOTDIR' };
    const location = { real: join(real, name), there, missing: missing ?? code };
    const target = missing === undefined ? targetOf(location.real) : undefined;
    if (target === undefined) return location;
    if (links >= mostLinks) return { ...location, missing: 'ELOOP' };
    return followed(isAbsolute(target) ? target : real + sep + target, links + 1);
  }
}

/** The target of a symbolic link; undefined for anything else, and for what cannot be examined. */
function targetOf(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    // The link may also have been replaced at this moment.
    return undefined;
  }
}

/** The code of a failed system call; rethrows any other error. */
export function codeOf(error: unknown): string {
  const code = (error as NodeJS.ErrnoException).code;
  if (typeof code !== 'string') throw error;
  return code;
}
