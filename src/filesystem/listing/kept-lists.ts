import * as z from 'zod';

/** How many items the pages before have had, as the last of them says. */
export const cursorParam = z
  .string()
  .regex(/^\d{1,9}$/, 'expected the cursor at the end of the page before')
  .optional();

interface KeptList {
  readonly items: readonly unknown[];
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

/** Some megabytes each at worst. */
const mostKept = 4;

/** Lists that have been made, for their next pages; lives as long as the server. */
export class KeptLists {
  readonly #kept = new Map<string, KeptList>();

  /**
   * A page of the list that answers a question: its items `from` up to `to`, as many as there is room for, but at least
   * one. The list is made anew for a first page, and when it is not kept any more.
   */
  async page<List extends KeptList>(request: PageRequest<List>) {
    const { question, cursor, limit, room, linesAt } = request;
    const kept = cursor === undefined ? undefined : (this.#kept.get(question) as List | undefined);
    const list = kept ?? (await request.make());
    this.#kept.delete(question);
    this.#kept.set(question, list);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > mostKept && oldest !== undefined) this.#kept.delete(oldest);
    const total = list.items.length;
    const from = Math.min(Number(cursor ?? 0), total);
    const lines: string[] = [];
    let [length, to] = [0, from];
    for (; to < Math.min(total, from + limit); to++) {
      const added = linesAt(list, to, to === from);
      length += added.reduce((sum, line) => sum + line.length + 1, 0);
      if (length > room && to > from) break;
      lines.push(...added);
    }
    return { list, from, to, lines, next: to < total ? String(to) : undefined };
  }
}
