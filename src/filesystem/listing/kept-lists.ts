import { createHash } from 'node:crypto';
import { ToolcribError } from '../../core/errors.ts';

/** Lists that have been made, for their next pages; lives as long as the server. */
export interface KeptLists {
  /**
   * The list that answers a question, and where its next page begins. It is made anew for a first page, and when it is
   * not kept any more. Throws ARG_INVALID for the cursor of another question.
   */
  open<List extends KeptList>(ask: ListQuestion<List>): Promise<{ list: List; from: number }>;
  /** The cursor of what comes after the first `count` items. */
  cursorAfter(list: KeptList, count: number, question: string): string;
}

interface KeptList {
  /** What its items are known by. */
  readonly paths: readonly string[];
}

interface ListQuestion<List> {
  /** All that decides what is listed, and in which order. */
  readonly question: string;
  readonly cursor: string | undefined;
  make(): Promise<List>;
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
    async open<List extends KeptList>({ question, cursor, make }: ListQuestion<List>) {
      const after = cursor === undefined ? undefined : positionIn(cursor, question);
      const found = after && (kept.get(question)?.list as List | undefined);
      const list = found ?? (await make());
      keep(question, list);
      return { list, from: after ? indexAfter(list.paths, after) : 0 };
    },
    cursorAfter: ({ paths }, count, question) =>
      encoded(`${markOf(question)}:${count}:${paths[count - 1] ?? ''}`),
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
