import { compareRanks, type Position, type Rank } from './grep-position.ts';
import type { Hit, Line } from './ripgrep-output.ts';

/** What belongs into a page. */
export interface Wanted {
  /** Matching lines, or files, in a page. */
  readonly limit: number;
  /** Where the page before ended: what comes up to there is passed over. */
  readonly after: Position | undefined;
  /** Where a file stands; undefined for one that is not wanted. */
  rankOf(path: string): Rank | undefined;
}

/** Lines of one file that may come into a page. */
export interface FileLines {
  readonly rank: Rank;
  readonly lines: Line[];
}

export interface GatheredLines {
  add(line: Line): void;
  /** Whether nothing that is still to come is of use. */
  readonly isEnough: boolean;
  /** Matching lines so far, kept or not. */
  readonly matches: number;
  /** In order: all that fits into a page, and one matching line more where there is one. */
  files(): FileLines[];
}

/** Bytes of lines that are more than a page can show. */
const pageBytes = 64 * 1024;
/** When so much came in no order, it is cheaper to search once more in order, only as far as the page goes. */
const plentyBytes = 2 * 1024 * 1024;
const plentyMatches = (limit: number): number => Math.max(2000, 10 * limit);

/** How many matching lines of each file are of use as long as files come in no order. */
export const mostUnordered = (limit: number): number => plentyMatches(limit) + 1;

/**
 * Gathers the lines of a page; memory is bounded however many come. The lines of a file come together. With `inOrder`
 * its files do come in order, but for those of the same time; otherwise only all lines tell which are the first.
 */
export function gatherLines({ limit, after, rankOf }: Wanted, inOrder: boolean): GatheredLines {
  let files: Kept[] = [];
  let current: Kept | undefined;
  let path: string | undefined;
  let from = Infinity;
  let bytes = 0;
  let keptMatches = 0;
  let matches = 0;
  /** Matching lines of the current file, also those that are passed over. */
  let inFile = 0;
  /** The last file that can still come into the page. */
  let bound: Rank | undefined;
  let isEnough = false;

  const isFull = (some: { matches: number; bytes: number }) =>
    some.matches > limit || (some.matches > 0 && some.bytes > pageBytes);

  function begin(next: string): void {
    path = next;
    current = undefined;
    from = Infinity;
    inFile = 0;
    const rank = rankOf(next);
    if (!rank) return;
    const order = after ? compareRanks(rank, after.rank) : 1;
    if (order < 0) return;
    from = order === 0 && after ? after.line + 1 : 0;
    if (bound && compareRanks(rank, bound) > 0) {
      isEnough ||= inOrder && rank.modified !== bound.modified;
      return;
    }
    current = { rank, lines: [], matches: 0, bytes: 0 };
    files.push(current);
  }

  /** Leaves out the files that come after a full page. */
  function compact(): void {
    files.sort((a, b) => compareRanks(a.rank, b.rank));
    const sum = { matches: 0, bytes: 0 };
    const last = files.findIndex((file) => {
      sum.matches += file.matches;
      sum.bytes += file.bytes;
      return isFull(sum);
    });
    if (last === -1) return;
    files = files.slice(0, last + 1);
    bound = files[last]?.rank;
    ({ bytes, matches: keptMatches } = sum);
  }

  function keep(line: Line, file: Kept): void {
    file.lines.push(line);
    const size = line.text.length + 100;
    file.bytes += size;
    bytes += size;
    if (!line.isMatch) return;
    file.matches++;
    keptMatches++;
  }

  return {
    add(line) {
      if (line.path !== path) {
        if (inOrder && bytes > plentyBytes) compact();
        begin(line.path);
      }
      if (line.isMatch) inFile++;
      // ripgrep has left lines of this file out, perhaps the next ones.
      if (!inOrder && from < Infinity && inFile > plentyMatches(limit)) isEnough = true;
      if (line.number < from) return;
      if (line.isMatch) matches++;
      if (current && !isFull(current)) keep(line, current);
      if (!inOrder) isEnough ||= matches > plentyMatches(limit) || bytes > plentyBytes;
      else if (!bound && current && isFull({ matches: keptMatches, bytes })) {
        bound = current.rank;
        // Of the same time there may be some that come before it.
        isEnough ||= bound.modified === undefined;
      }
    },
    get isEnough() {
      return isEnough;
    },
    get matches() {
      return matches;
    },
    files: () => files.sort((a, b) => compareRanks(a.rank, b.rank)),
  };
}

interface Kept extends FileLines {
  matches: number;
  bytes: number;
}

export interface GatheredHits {
  add(hit: Hit): void;
  /** Of all files, also those of other pages. */
  readonly total: { readonly files: number; readonly matches: number };
  /** In order: as many as a page has, and one more where there is one. */
  hits(): RankedHit[];
}

export interface RankedHit {
  readonly rank: Rank;
  readonly count: number;
}

/** Files kept until those that come after the page are left out. */
const mostHits = 20_000;

/** Gathers the files of a page, and counts all. */
export function gatherHits({ limit, after, rankOf }: Wanted): GatheredHits {
  let kept: RankedHit[] = [];
  const total = { files: 0, matches: 0 };
  const inOrder = () => kept.sort((a, b) => compareRanks(a.rank, b.rank)).slice(0, limit + 1);
  return {
    add({ path, count }) {
      const rank = rankOf(path);
      if (!rank) return;
      total.files++;
      total.matches += count;
      if (after && compareRanks(rank, after.rank) <= 0) return;
      kept.push({ rank, count });
      if (kept.length >= mostHits) kept = inOrder();
    },
    total,
    hits: inOrder,
  };
}
