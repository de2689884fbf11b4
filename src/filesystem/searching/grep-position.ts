import { createHash } from 'node:crypto';
import { cursorAt, notOurs, positionOf } from '../cursor.ts';

/** Where a file stands among all that were found. */
export interface Rank {
  /** Its path below the searched folder, a character a byte and `\0` between names: sorts as ripgrep's --sort=path. */
  readonly key: string;
  /** When it was last changed, in milliseconds; only where that comes first. */
  readonly modified?: number;
}

/** Where a page ended: at a file, and a line of it where lines are shown. */
export interface Position {
  readonly rank: Rank;
  readonly line: number;
}

/** Newest first, where times are given; then by path. */
export function compareRanks(a: Rank, b: Rank): number {
  const byTime = (b.modified ?? 0) - (a.modified ?? 0);
  if (byTime !== 0) return byTime;
  if (a.key === b.key) return 0;
  return a.key < b.key ? -1 : 1;
}

/** A name comes before all that only begin with it, so what separates names has to come before every character. */
export const keyOf = (path: string): string => path.replaceAll('/', '\0');

export const pathOf = ({ key }: Rank): string => key.replaceAll('\0', '/');

/** A cursor for what comes after a position, in answer to the same question. */
export const cursorAfter = ({ rank, line }: Position, question: string): string =>
  cursorAt(`${markOf(question)}:${line}:${rank.modified ?? ''}:${rank.key}`);

/** Throws ARG_INVALID for what `cursorAfter` did not make, or made for another question. */
export function positionAt(cursor: string | undefined, question: string): Position | undefined {
  const position = positionOf(cursor);
  if (position === undefined) return undefined;
  const [, mark, line, modified, key = ''] = /^([\w-]+):(\d+):(-?[\d.]*):([^]*)$/.exec(position) ?? [];
  if (mark !== markOf(question)) throw notOurs();
  return { rank: { key, ...(modified ? { modified: Number(modified) } : {}) }, line: Number(line) };
}

/** Enough to notice that another pattern or folder is asked for, which would pass over matches and not say so. */
const markOf = (question: string): string =>
  createHash('sha256').update(question).digest('base64url').slice(0, 6);
