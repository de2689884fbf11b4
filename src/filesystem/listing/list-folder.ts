import { lstatSync, readlinkSync, type Dirent, type Stats } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { unreadable, type Opened } from '../../machine/paths/opened.ts';
import { codeOf } from '../../machine/paths/real-path.ts';
import { ignoreRules } from './ignore-rules.ts';

export interface ListedEntry {
  /** Below the listed folder, with `/` between names. */
  readonly path: string;
  readonly kind: 'file' | 'folder' | 'link' | 'fifo' | 'socket' | 'device';
  readonly isIgnored?: boolean;
}

export interface Listing {
  readonly items: readonly ListedEntry[];
  readonly notes: readonly string[];
}

/** What one folder holds, read from it, in order of names. Throws what cannot be read. */
export async function listFolder({ path, stablePath }: Opened): Promise<Listing> {
  const isIgnored = ignoreRules(path);
  const found = await readdir(stablePath, { withFileTypes: true }).catch((error: unknown) => {
    throw unreadable(path, codeOf(error));
  });
  const items = found.map((entry): ListedEntry => {
    const listed = { path: entry.name, kind: kindOf(entry) };
    return isIgnored(entry.name, entry.isDirectory()) ? { ...listed, isIgnored: true } : listed;
  });
  return { items: items.sort((a, b) => (a.path < b.path ? -1 : 1)), notes: [] };
}

function kindOf(entry: Dirent): ListedEntry['kind'] {
  if (entry.isFile()) return 'file';
  if (entry.isDirectory()) return 'folder';
  if (entry.isSymbolicLink()) return 'link';
  if (entry.isFIFO()) return 'fifo';
  return entry.isSocket() ? 'socket' : 'device';
}

/** What is known of an entry, and where a link leads; undefined when it is gone, or may not be looked at. */
export const statOf = ({ stablePath }: Opened, { path }: ListedEntry): Stats | undefined =>
  asked(() => lstatSync(`${stablePath}/${path}`, { throwIfNoEntry: false }));

export const targetOf = ({ stablePath }: Opened, { path }: ListedEntry): string | undefined =>
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
