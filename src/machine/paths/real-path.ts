import { lstatSync, readlinkSync, realpathSync } from 'node:fs';
import { lstat, realpath } from 'node:fs/promises';
import { basename, dirname, join, parse, sep } from 'node:path';

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
 * names the real one counts, which may be another (`GIT~1`). Throws the system's error when not even the root is there.
 */
export async function locate(path: string, { follow = true } = {}): Promise<Location> {
  if (!follow && (await lstat(path).catch(() => undefined))?.isSymbolicLink()) {
    const { real, there, missing } = await locate(dirname(path));
    if (missing === undefined) return { real: join(real, basename(path)), there };
  }
  try {
    const real = await realpath(path);
    return { real, there: real };
  } catch (error) {
    codeOf(error);
    return followSteps(path);
  }
}

/**
 * One step after the other, as far as there is something: what comes behind that is taken by its names. Without another
 * thread: for a new file each step would take ten times as long.
 */
function followSteps(path: string): Location {
  let there = parse(path).root;
  const steps = path.slice(there.length).split(sep === '/' ? '/' : /[\\/]/);
  for (let links = 0, step = steps.shift(); step !== undefined; step = steps.shift()) {
    if (step === '' || step === '.') continue;
    if (step === '..') {
      there = dirname(there);
      continue;
    }
    const here = join(there, step);
    try {
      const found = lstatSync(here);
      if (!found.isSymbolicLink()) {
        if (!found.isDirectory() && steps.length > 0) return ending(there, [step, ...steps], 'ENOTDIR');
        there = here;
      } else if (++links > mostLinks) {
        return ending(there, [step, ...steps], 'ELOOP');
      } else {
        const target = readlinkSync(here);
        there = parse(target).root || there;
        steps.unshift(...target.slice(parse(target).root.length).split(sep));
      }
    } catch (error) {
      return ending(there, [step, ...steps], codeOf(error));
    }
  }
  return ending(there, [], undefined);
}

function ending(there: string, steps: readonly string[], missing: string | undefined): Location {
  // Another spelling of it may be the real one, where case does not count.
  const real = realPath(there);
  // Below nothing there is no way up: a `..` after a missing name must not climb out.
  if (steps.includes('..')) return { real, there: real, missing: 'ENOTDIR' };
  return { real: join(real, ...steps), there: real, ...(missing !== undefined && { missing }) };
}

/** The real path, also of what does not exist yet: from the deepest folder that does. */
export function realPath(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    // It is not there, or may not be looked at.
  }
  return path === dirname(path) ? path : join(realPath(dirname(path)), basename(path));
}

/** The code of a failed system call; throws what is none. */
export function codeOf(error: unknown): string {
  const code = (error as NodeJS.ErrnoException).code;
  if (typeof code !== 'string') throw error;
  return code;
}
