import { createHash } from 'node:crypto';
import { ToolcribError } from '../../core/errors.ts';

/** Lists that have been made, for their next pages; lives as long as the server. */
export interface KeptLists {
  /**
   * A page of the list that answers a question. The list is made anew for a first page, and when it is not kept any
   * more. Throws ARG_INVALID for the cursor of another question.
   */
  page<List extends KeptList>(request: PageRequest<List>): Promise<Page<List>>;
}

interface KeptList {
  /** What its items are known by. */
  readonly paths: readonly string[];
}

interface PageRequest<List> {
  /** All that decides what is listed, and in which order. */
  readonly question: string;
  readonly cursor: string | undefined;
  make(): Promise<List>;
  /** Items, and characters, of a page. */
  readonly limit: number;
  readonly room: number;
  /** What an item adds to the page, below the one before it or as its first. */
  linesAt(list: List, index: number, isFirst: boolean): string[];
}

/** The items of a list from one on, up to another; as many as there is room for, but at least one. */
interface Page<List> {
  readonly list: List;
  readonly from: number;
  readonly to: number;
  readonly lines: string[];
  /** The cursor of the next page; undefined after the last. */
  readonly next: string | undefined;
}

/** Some megabytes each at worst. A model may think for minutes before it asks for the next page. */
const mostKept = 6;
const keptMs = 10 * 60_000;

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
    async page<List extends KeptList>(request: PageRequest<List>) {
      const { question, cursor, make, limit, room, linesAt } = request;
      const after = cursor === undefined ? undefined : positionIn(cursor, question);
      const found = after && (kept.get(question)?.list as List | undefined);
      const list = found ?? (await make());
      keep(question, list);
      const from = after ? indexAfter(list.paths, after) : 0;
      const lines: string[] = [];
      let [length, to] = [0, from];
      for (; to < Math.min(list.paths.length, from + limit); to++) {
        const added = linesAt(list, to, to === from);
        length += added.reduce((sum, line) => sum + line.length + 1, 0);
        if (length > room && to > from) break;
        lines.push(...added);
      }
      const position = `${markOf(question)}:${to}:${list.paths[to - 1] ?? ''}`;
      return { list, from, to, lines, next: to < list.paths.length ? encoded(position) : undefined };
    },
  };
}

const encoded = (position: string): string => Buffer.from(position).toString('base64url');

function positionIn(cursor: string, question: string) {
  const position = Buffer.from(cursor, 'base64url').toString();
  const [, mark, count, path = ''] = /^([\w-]+):(\d+):([^]*)$/.exec(position) ?? [];
  if (mark === markOf(question) && encoded(position) === cursor) return { count: Number(count), path };
  throw new ToolcribError(
    'ARG_INVALID',
    'cursor: is none that this tool gave with these parameters.',
    'Give the one at the end of the page before, or leave it out.',
  );
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
