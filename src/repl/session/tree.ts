import type { Entry } from './entry.ts';
import type { Line } from './check-entry.ts';

/** The entries of a session as they hang together. Entries only ever come after the one they hang on, so there is no cycle. */
export interface Tree {
  /** Takes the next line of the file; what cannot be placed is passed over. */
  take(line: Line): void;
  entry(id: string): Entry | undefined;
  children(id: string | null): readonly Entry[];
  /** From the root to the leaf: a list that grows as entries are appended, and is replaced when the leaf moves. */
  path(): readonly Entry[];
  readonly leaf: string | null;
  /** The last name that was given, on whichever branch. */
  readonly named: NameEntry | undefined;
}

export type NameEntry = Extract<Entry, { type: 'name' }>;

export function createTree(): Tree {
  const entries = new Map<string, Entry>();
  const children = new Map<string | null, Entry[]>();
  /** What hangs on an entry that was passed over hangs on the one before it. */
  const passedOver = new Map<string, string | null>();
  let path: Entry[] | undefined = [];
  let leaf: string | null = null;
  let named: NameEntry | undefined;
  let newest: string | null = null;
  let gap = false;

  /** Where to hang what names `parent`; undefined when that is nowhere in the file. */
  const placeOf = (parent: string | null): string | null | undefined => {
    if (parent === null || entries.has(parent)) return parent;
    // It was in a line that could not be read: what came before that line is the best that is known.
    if (gap && !passedOver.has(parent)) passedOver.set(parent, newest);
    return passedOver.get(parent);
  };

  const pathTo = (id: string | null): Entry[] => {
    const found: Entry[] = [];
    for (let at = id; at !== null;) {
      const entry = entries.get(at);
      if (!entry) break;
      found.push(entry);
      at = entry.parent;
    }
    return found.toReversed();
  };

  const moveTo = (id: string | null | undefined) => {
    if (id === undefined) return;
    leaf = id;
    path = undefined;
  };

  const add = (entry: Entry) => {
    const { id, parent } = entry;
    entries.set(id, entry);
    const siblings = children.get(parent);
    if (siblings) siblings.push(entry);
    else children.set(parent, [entry]);
    if (parent === leaf) path?.push(entry);
    else path = undefined;
    leaf = id;
    newest = id;
    gap = false;
  };

  return {
    take(line) {
      if (line.kind === 'broken') gap = true;
      if (line.kind === 'broken' || line.kind === 'header') return;
      const given = line.kind === 'entry' ? line.entry : line;
      const { id } = given;
      const parent = placeOf(given.parent);
      if (line.kind === 'unknown') {
        if (parent !== undefined && !entries.has(id)) passedOver.set(id, parent);
        return;
      }
      // These two are about the session: they hang on nothing, and nothing hangs on them.
      if (line.entry.type === 'name') named = line.entry;
      else if (line.entry.type === 'leaf') moveTo(placeOf(line.entry.to));
      else if (parent !== undefined && !entries.has(id))
        add(parent === given.parent ? line.entry : { ...line.entry, parent });
    },
    entry: (id) => entries.get(id),
    children: (id) => children.get(id) ?? [],
    path: () => (path ??= pathTo(leaf)),
    get leaf() {
      return leaf;
    },
    get named() {
      return named;
    },
  };
}
