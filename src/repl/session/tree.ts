import type { Line } from './check-entry.ts';
import type { Entry } from './entry.ts';

/**
 * The entries of a session as they hang together. Entries only ever come after the one they hang on, so there is no
 * cycle.
 */
export interface Tree {
  /** Takes the next line of the file. */
  take(line: Line): void;
  entry(id: string): Entry | undefined;
  children(id: string | null): readonly Entry[];
  /** From the root to the leaf: a list that grows as entries are appended, and is replaced when the leaf moves. */
  path(): readonly Entry[];
  readonly leaf: string | null;
  /** The last name that was given, on whichever branch. */
  readonly name: string | undefined;
}

export function createTree(): Tree {
  const entries = new Map<string, Entry>();
  const children = new Map<string | null, Entry[]>();
  let path: Entry[] | undefined = [];
  let leaf: string | null = null;
  let name: string | undefined;
  let newest: string | null = null;

  /** What names an entry that cannot be read, or is of a later version, hangs on the one before it in the file. */
  const placeOf = (id: string | null): string | null => (id === null || entries.has(id) ? id : newest);

  const pathTo = (id: string | null): Entry[] => {
    const found: Entry[] = [];
    for (let at = id === null ? undefined : entries.get(id); at; at = entries.get(at.parent ?? ''))
      found.push(at);
    return found.toReversed();
  };

  const add = (given: Entry) => {
    const parent = placeOf(given.parent);
    const entry = parent === given.parent ? given : { ...given, parent };
    entries.set(entry.id, entry);
    const siblings = children.get(parent);
    if (siblings) siblings.push(entry);
    else children.set(parent, [entry]);
    if (parent === leaf) path?.push(entry);
    else path = undefined;
    leaf = newest = entry.id;
  };

  return {
    take(line) {
      if (line.kind !== 'entry') return;
      const { entry } = line;
      // These two are about the session: they hang on nothing, and nothing hangs on them.
      if (entry.type === 'name') ({ name } = entry);
      else if (entry.type === 'leaf') {
        leaf = placeOf(entry.to);
        path = undefined;
      } else if (!entries.has(entry.id)) add(entry);
    },
    entry: (id) => entries.get(id),
    children: (id) => children.get(id) ?? [],
    path: () => (path ??= pathTo(leaf)),
    get leaf() {
      return leaf;
    },
    get name() {
      return name;
    },
  };
}
