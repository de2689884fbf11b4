import { lstatSync, readlinkSync, type Dirent, type Stats } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { unreadable, type Opened } from '../../machine/paths/opened.ts';
import { codeOf } from '../../machine/paths/real-path.ts';
import { ignoreRules } from './ignore-rules.ts';

/** What is listed, as far as it is known without a look at each. */
export interface ListedEntry {
  /** Below the listed folder, with `/` between names. */
  readonly path: string;
  readonly kind: 'file' | 'folder' | 'link' | 'fifo' | 'socket' | 'device';
}

export interface Listing {
  /** As `entryOf` reads them: thousands of objects would take longer than to read their folder. */
  readonly items: readonly (Dirent | string)[];
  readonly notes: readonly string[];
  isIgnored?(entry: ListedEntry): boolean;
}

/** What one folder holds, read from it, in order of names or newest first. Throws what cannot be read. */
export async function listFolder(folder: Opened, sort: 'path' | 'modified'): Promise<Listing> {
  const { path, stablePath } = folder;
  const found = await readdir(stablePath, { withFileTypes: true }).catch((error: unknown) => {
    throw unreadable(path, codeOf(error));
  });
  found.sort((a, b) => (a.name < b.name ? -1 : 1));
  const rules = ignoreRules(path);
  const isIgnored = (entry: ListedEntry) => rules(entry.path, entry.kind === 'folder');
  if (sort === 'path') return { items: found, notes: [], isIgnored };
  const changed = new Map(found.map((entry) => [entry, statOf(folder, entry.name)?.mtimeMs ?? 0]));
  const items = found.toSorted((a, b) => (changed.get(b) ?? 0) - (changed.get(a) ?? 0));
  return { items, notes: [], isIgnored };
}

/** An entry of a folder, or a path below it, that of a folder with `/` behind it. */
export function entryOf(item: Dirent | string): ListedEntry {
  if (typeof item !== 'string') return { path: item.name, kind: kindOf(item) };
  return item.endsWith('/') ? { path: item.slice(0, -1), kind: 'folder' } : { path: item, kind: 'file' };
}

function kindOf(entry: Dirent): ListedEntry['kind'] {
  if (entry.isFile()) return 'file';
  if (entry.isDirectory()) return 'folder';
  if (entry.isSymbolicLink()) return 'link';
  if (entry.isFIFO()) return 'fifo';
  return entry.isSocket() ? 'socket' : 'device';
}

/** What is known of an entry, and where a link leads; undefined when it is gone, or may not be looked at. */
export const statOf = ({ stablePath }: Opened, path: string): Stats | undefined =>
  asked(() => lstatSync(`${stablePath}/${path}`, { throwIfNoEntry: false }));

export const targetOf = ({ stablePath }: Opened, path: string): string | undefined =>
  asked(() => readlinkSync(`${stablePath}/${path}`));

/**
 * Asked without a thread in between, which is ten times faster for many. It could only be kept waiting by a mounted
 * file system that has just listed the file.
 */
function asked<Value>(ask: () => Value): Value | undefined {
  try {
    return ask();
  } catch {
    // Gone meanwhile, or not to be looked at.
    return undefined;
  }
}
