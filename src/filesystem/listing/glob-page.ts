import { lstatSync } from 'node:fs';
import { cursorAt, notOurs, positionOf } from '../cursor.ts';
import { firstItems } from './first-items.ts';
import { pathBelow } from './held-folder.ts';
import type { Pace } from './pace.ts';
import type { FoundFiles } from './walk.ts';

/** A file on a page. */
interface Found {
  /** Below the searched folder, with `/` between its names. */
  readonly path: string;
  /** Milliseconds since 1970; 0 where files are not sorted by it. */
  readonly modified: number;
}

/** One page of the files a walk finds, in whatever order it finds them. */
export interface GlobPage {
  take(files: FoundFiles): Promise<void> | undefined;
  /** How many files there are on all pages. */
  readonly total: number;
  /** How many of them on the pages before. */
  readonly before: number;
  paths(): readonly string[];
  /** The cursor of the page after the first `count` of `paths`. */
  nextAfter(count: number): string;
}

interface Wanted {
  readonly sort: 'path' | 'modified';
  readonly limit: number;
  readonly cursor?: string | undefined;
}

/** A file takes several microseconds to ask for its time. */
const statUnits = 5;

/** Throws ARG_INVALID for a cursor of something else. */
export function globPage({ sort, limit, cursor }: Wanted, pace: Pace): GlobPage {
  const after = foundAt(positionOf(cursor), sort);
  const first = firstItems<Found>(limit, compare);
  let total = 0;
  let before = 0;

  const add = (found: Found) => {
    total++;
    if (after && compare(found, after) <= 0) before++;
    else first.add(found);
  };
  const byTime = async ({ names, bytes, path, folder }: FoundFiles) => {
    for (const name of names) {
      const modified = modifiedAt(pathBelow(folder, name, bytes.get(name)));
      if (modified !== undefined) add({ path: path + name, modified });
      if (pace.spend(statUnits)) await pace.rest();
    }
  };
  return {
    take(files) {
      const { names, path } = files;
      if (sort === 'modified') return byTime(files);
      // All that lies below a path comes after it, and most folders lie beyond the page.
      if (first.last && path > first.last.path) total += names.length;
      else for (const name of names) add({ path: path + name, modified: 0 });
      return undefined;
    },
    get total() {
      return total;
    },
    get before() {
      return before;
    },
    paths: () => first.items().map((found) => found.path),
    nextAfter(count) {
      const last = first.items()[count - 1];
      return last ? cursorAt(`${sort === 'modified' ? last.modified : ''}/${last.path}`) : '';
    },
  };
}

/** Newest first, then by path. */
function compare(a: Found, b: Found): number {
  if (a.modified !== b.modified) return b.modified - a.modified;
  if (a.path === b.path) return 0;
  return a.path < b.path ? -1 : 1;
}

function foundAt(position: string | undefined, sort: Wanted['sort']): Found | undefined {
  if (position === undefined) return undefined;
  const [, time, path] = /^(-?[\d.]*)\/([^]+)$/.exec(position) ?? [];
  if (time === undefined || path === undefined || (time === '') !== (sort === 'path')) throw notOurs();
  return { path, modified: Number(time) };
}

/**
 * Asked without a thread in between, which is ten times faster for many. It could only be kept waiting by a mounted file
 * system that has just listed the file. Undefined when it is gone.
 */
function modifiedAt(path: string | Buffer): number | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.mtimeMs;
  } catch {
    // A folder may be listed by somebody who may not look at what is in it: the file is there, its time unknown.
    return 0;
  }
}
