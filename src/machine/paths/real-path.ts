import { readlinkSync, realpathSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, sep } from 'node:path';

/** Where a path leads. */
export interface Location {
  /** Without symbolic links. For what does not exist: where it would come to be. */
  readonly real: string;
  /** How much of that exists: itself, or the deepest folder on the way. */
  readonly there: string;
  /** Why the system could not follow the path to its end (ENOENT, EACCES, ELOOP…); undefined when it could. */
  readonly missing?: string;
}

/** As many as Linux follows. */
const mostLinks = 40;

/**
 * Follows an absolute path the way the system does: links first, then `..`. Where that ends early, a link to nothing is
 * followed to where its target would be. Without `follow` a link at the end is itself what the path leads to; of other
 * names the real one counts, which may be another (`GIT~1`).
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

/** Without another thread, which would take longer to be asked. */
function followed(path: string, links = 0): Location {
  try {
    const real = realpathSync.native(path);
    return { real, there: real };
  } catch (error) {
    const [code, folder, name] = [codeOf(error), dirname(path), basename(path)];
    if (folder === path) return { real: path, there: path, missing: code };
    const { real, there, missing } = followed(folder, links);
    // Below nothing there is no way up: a `..` after a missing name must not climb out.
    if (name === '..') return { real: there, there, missing: 'ENOTDIR' };
    const here = { real: join(real, name), there, missing: missing ?? code };
    const target = missing === undefined ? targetOf(here.real) : undefined;
    if (target === undefined) return here;
    if (links >= mostLinks) return { ...here, missing: 'ELOOP' };
    return followed(isAbsolute(target) ? target : real + sep + target, links + 1);
  }
}

/** Where a link leads; undefined for what is none, or cannot be looked at. */
function targetOf(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    // In this moment it may have come to be something else as well.
    return undefined;
  }
}

/** The code of a failed system call; throws what is none. */
export function codeOf(error: unknown): string {
  const code = (error as NodeJS.ErrnoException).code;
  if (typeof code !== 'string') throw error;
  return code;
}
