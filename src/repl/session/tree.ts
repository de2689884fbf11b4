import type { Entry } from './entry.ts';
import { isSetting, noSettings, settle, type Settings } from './settings.ts';

/**
 * The entries of a session as they hang together. Entries only ever come after the one they hang on, so there is no
 * cycle.
 */
export class Tree {
  leaf: string | null = null;
  settings: Settings = noSettings;
  /** The entries that the settings are made of. */
  readonly set: Entry[] = [];
  #path: Entry[] | undefined = [];
  readonly #entries = new Map<string, Entry>();
  readonly #children = new Map<string | null, Entry[]>();
  /** What hung on a setting, in sessions of earlier versions, hangs on what that hung on. */
  readonly #places = new Map<string, string | null>();
  #newest: string | null = null;

  /** From the root to the leaf: a list that grows as entries are appended, and is replaced when the leaf moves. */
  get path(): readonly Entry[] {
    return (this.#path ??= this.pathTo(this.leaf));
  }

  entry = (id: string): Entry | undefined => this.#entries.get(id);

  /** What hangs on an entry, oldest first; on null: what begins the conversation. */
  children = (id: string | null): readonly Entry[] => this.#children.get(id) ?? [];

  /** Takes the next entry of the file. */
  take(entry: Entry): void {
    if (isSetting(entry)) {
      this.settings = settle(this.settings, entry);
      this.set.push(entry);
      this.#places.set(entry.id, this.#placeOf(entry.parent));
    } else if (entry.type === 'leaf') {
      this.leaf = this.#placeOf(entry.to);
      this.#path = undefined;
    } else if (!this.#entries.has(entry.id)) this.#add(entry);
  }

  pathTo(id: string | null): Entry[] {
    const found: Entry[] = [];
    for (let at = this.#entries.get(id ?? ''); at; at = this.#entries.get(at.parent ?? '')) found.push(at);
    return found.toReversed();
  }

  /** What names an entry that cannot be read, or is of a later version, hangs on the one before it in the file. */
  #placeOf(id: string | null): string | null {
    if (id === null || this.#entries.has(id)) return id;
    const place = this.#places.get(id);
    return place === undefined ? this.#newest : place;
  }

  #add(given: Entry): void {
    const parent = this.#placeOf(given.parent);
    const entry = parent === given.parent ? given : { ...given, parent };
    this.#entries.set(entry.id, entry);
    const siblings = this.#children.get(parent);
    if (siblings) siblings.push(entry);
    else this.#children.set(parent, [entry]);
    if (parent === this.leaf) this.#path?.push(entry);
    else this.#path = undefined;
    this.leaf = this.#newest = entry.id;
  }
}
