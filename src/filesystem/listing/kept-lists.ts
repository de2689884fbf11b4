import type { Listing } from './list-folder.ts';

/** Some megabytes each at worst. */
const mostKept = 4;

/** Lists that have been made, for their next pages, by what was asked; lives as long as the server. */
export class KeptLists {
  readonly #kept = new Map<string, Listing>();

  /** The list that is kept, or a new one: for a first page always. */
  async listFor(question: string, isFirst: boolean, make: () => Promise<Listing>): Promise<Listing> {
    const list = (isFirst ? undefined : this.#kept.get(question)) ?? (await make());
    this.#kept.delete(question);
    this.#kept.set(question, list);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > mostKept && oldest !== undefined) this.#kept.delete(oldest);
    return list;
  }
}
