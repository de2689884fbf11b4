import { lstatSync, opendirSync } from 'node:fs';
import { areSettled, nowNs, sameState, type Breathe, type Facts } from './run-file.ts';

/** What is in a folder, each list in the order of the names' code units. */
export interface FolderEntries {
  readonly folders: readonly string[];
  readonly links: readonly string[];
  /** Files, and what is neither. */
  readonly files: readonly string[];
  readonly count: number;
}

/** Lists folders, and remembers them for as long as their facts stay the same. */
export interface Folders {
  /** `more`: there are more than `most`. Undefined when it cannot be listed, or is none. */
  list(path: string, most: number, breathe: Breathe): Promise<FolderEntries | 'more' | undefined>;
}

/** As many names as are remembered of a project. */
const mostNames = 200_000;
/** Those of Windows do not always notice in time what comes to be in them. */
const tellsChanges = process.platform !== 'win32';

export function createFolders(): Folders {
  const known = new Map<string, { facts: Facts; entries: FolderEntries }>();
  let names = 0;
  return {
    async list(path, most, breathe) {
      const at = nowNs();
      const facts = lstatSync(path, { bigint: true, throwIfNoEntry: false });
      if (!facts?.isDirectory()) return undefined;
      const old = known.get(path);
      if (old && sameState(old.facts, facts)) return old.entries.count > most ? 'more' : old.entries;
      const entries = await entriesOf(path, most, breathe);
      if (typeof entries !== 'object') return entries;
      if (names > mostNames) {
        known.clear();
        names = 0;
      }
      names += entries.count;
      if (tellsChanges && areSettled(facts, at)) known.set(path, { facts, entries });
      else known.delete(path);
      return entries;
    },
  };
}

async function entriesOf(
  path: string,
  most: number,
  breathe: Breathe,
): Promise<FolderEntries | 'more' | undefined> {
  const found = { folders: [] as string[], links: [] as string[], files: [] as string[], count: 0 };
  try {
    const folder = opendirSync(path, { bufferSize: 256 });
    try {
      for (let entry = folder.readSync(); entry; entry = folder.readSync()) {
        if (++found.count > most) return 'more';
        if (entry.isDirectory()) found.folders.push(entry.name);
        else if (entry.isSymbolicLink()) found.links.push(entry.name);
        else found.files.push(entry.name);
        if (found.count % 256 === 0) await breathe();
      }
    } finally {
      folder.closeSync();
    }
  } catch {
    // Closed to this user, or gone by now.
    return undefined;
  }
  for (const names of [found.folders, found.links, found.files]) names.sort();
  return found;
}
