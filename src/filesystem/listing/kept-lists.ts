import { createHash } from 'node:crypto';
import { cursorAt, notOurs, positionOf } from '../cursor.ts';

/** Lists that have been made, for their next pages; lives as long as the server. */
export interface KeptLists {
  /**
   * The list that answers a question, and where its next page begins. It is made anew for a first page, and when it is
   * not kept any more. Throws ARG_INVALID for the cursor of another question.
   */
  open<List extends KeptList>(ask: Ask<List>): Promise<{ list: List; from: number }>;
  /** The cursor of what comes after the first `count` items. */
  cursorAfter(list: KeptList, count: number, question: string): string;
}

interface KeptList {
  /** What its items are known by. */
  readonly paths: readonly string[];
}

interface Ask<List> {
  /** All that decides what is listed, and in which order. */
  readonly question: string;
  readonly cursor: string | undefined;
  make(): Promise<List>;
}

const mostKept = 10;
const keptMs = 60_000;

export function createKeptLists(): KeptLists {
  const kept = new Map<string, { list: KeptList; timer: NodeJS.Timeout }>();

  const drop = (question: string) => {
    clearTimeout(kept.get(question)?.timer);
    kept.delete(question);
  };
  const keep = (question: string, list: KeptList) => {
    drop(question);
    kept.set(question, { list, timer: setTimeout(() => kept.delete(question), keptMs).unref() });
    const [oldest] = kept.keys();
    if (kept.size > mostKept && oldest !== undefined) drop(oldest);
  };

  return {
    async open<List extends KeptList>({ question, cursor, make }: Ask<List>) {
      const after = positionIn(cursor, question);
      const found = after && (kept.get(question)?.list as List | undefined);
      const list = found ?? (await make());
      if (!found) keep(question, list);
      return { list, from: after ? indexAfter(list.paths, after) : 0 };
    },
    cursorAfter: ({ paths }, count, question) =>
      cursorAt(`${markOf(question)}:${count}:${paths[count - 1] ?? ''}`),
  };
}

function positionIn(cursor: string | undefined, question: string) {
  const position = positionOf(cursor);
  if (position === undefined) return undefined;
  const [, mark, count, path = ''] = /^([\w-]+):(\d+):([^]*)$/.exec(position) ?? [];
  if (mark !== markOf(question)) throw notOurs();
  return { count: Number(count), path };
}

/** In a list that was made anew things may have come and gone. */
function indexAfter(paths: readonly string[], { count, path }: { count: number; path: string }): number {
  if (paths[count - 1] === path) return count;
  const found = paths.indexOf(path);
  return found === -1 ? Math.min(count, paths.length) : found + 1;
}

/** Enough to notice that something else is asked for, of which a page would leave out what came before. */
const markOf = (question: string): string =>
  createHash('sha256').update(question).digest('base64url').slice(0, 6);
