import type { Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { decode } from '../../machine/decode.ts';
import { unreadable, type Opened } from '../../machine/paths/opened.ts';
import { ownFoldersBelow } from '../../machine/paths/own-folders.ts';
import { codeOf } from '../../machine/paths/real-path.ts';
import type { Services } from '../services.ts';
import { findFiles } from './find-files.ts';
import { ignoreRules } from './ignore-rules.ts';

/** What is asked about a folder. */
interface FolderRequest {
  readonly signal: AbortSignal;
  readonly depth: number;
  readonly hidden: boolean;
  /** Whether ignored folders are gone into. */
  readonly ignored: boolean;
}

export interface ListedEntry {
  /** The folder it stands in, below the listed one; '' or ending with `/`. */
  readonly folder: string;
  readonly name: string;
  readonly kind: 'file' | 'folder' | 'link' | 'fifo' | 'socket' | 'device' | 'unknown';
  /** The bytes of its name, where they are no UTF-8. */
  readonly bytes?: Buffer;
  readonly tag?: 'ignored' | 'not entered';
}

/** The entries of a folder, then those of each of its folders. */
export interface ListedFolder {
  readonly entries: readonly ListedEntry[];
  /** Of each entry. */
  readonly paths: readonly string[];
  /** How many names that begin with a dot were left out. */
  readonly hidden: number;
  readonly notes: readonly string[];
}

/**
 * What a folder holds, read from it; with a depth, below its folders what ripgrep finds: files that no rule leaves
 * out, and the folders that they are in. Links are not followed. Throws what cannot be read of the folder itself, and
 * what `findFiles` throws.
 */
export async function listFolder(
  opened: Opened,
  request: FolderRequest,
  services: Services,
): Promise<ListedFolder> {
  const { depth, hidden, ignored, signal } = request;
  const deeper =
    depth === 1
      ? { paths: [], notes: [] }
      : await findFiles(services, { folder: opened, hidden, ignored, sort: 'path', signal });
  const own = ownFoldersBelow(opened.path);
  const isIgnored = ignored ? () => false : ignoreRules(opened.path);
  const all = await entriesOf(opened);
  const top = all
    .filter(({ name }) => hidden || !name.startsWith('.'))
    .map((entry): ListedEntry => {
      const isFolder = entry.kind === 'folder';
      if (isFolder && depth > 1 && (entry.name === '.git' || own.has(entry.name)))
        return { ...entry, tag: 'not entered' };
      return isIgnored(entry.name, isFolder) ? { ...entry, tag: 'ignored' } : entry;
    });
  const entries = [...top, ...entriesBelow(deeper.paths, depth)];
  return {
    entries,
    paths: entries.map(({ folder, name }) => folder + name),
    hidden: all.length - top.length,
    notes: deeper.notes,
  };
}

async function entriesOf({ path, stablePath }: Opened): Promise<ListedEntry[]> {
  try {
    const found = await readdir(stablePath, { withFileTypes: true });
    const isText = !found.some(({ name }) => name.includes('\ufffd'));
    const entries = isText
      ? found.map((entry) => ({ folder: '', name: entry.name, kind: kindOf(entry) }))
      : (await readdir(stablePath, { withFileTypes: true, encoding: 'buffer' })).map((entry) => ({
          folder: '',
          name: decode(entry.name),
          bytes: entry.name,
          kind: kindOf(entry),
        }));
    return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch (error) {
    throw unreadable(path, codeOf(error));
  }
}

function kindOf(entry: Dirent | Dirent<Buffer>): ListedEntry['kind'] {
  if (entry.isFile()) return 'file';
  if (entry.isDirectory()) return 'folder';
  if (entry.isSymbolicLink()) return 'link';
  if (entry.isFIFO()) return 'fifo';
  if (entry.isSocket()) return 'socket';
  return entry.isCharacterDevice() || entry.isBlockDevice() ? 'device' : 'unknown';
}

/** What the folders below the listed one hold, down to a depth, by the paths of all files. */
function entriesBelow(paths: readonly string[], depth: number): ListedEntry[] {
  const folders = new Map<string, Map<string, ListedEntry>>();
  for (const path of paths) {
    const names = path.split('/');
    for (let level = 1; level < Math.min(names.length, depth); level++) {
      const folder = `${names.slice(0, level).join('/')}/`;
      const name = names[level] ?? '';
      const entries = folders.get(folder) ?? new Map<string, ListedEntry>();
      if (entries.size === 0) folders.set(folder, entries);
      const kind = level === names.length - 1 ? 'file' : 'folder';
      if (!entries.has(name)) entries.set(name, { folder, name, kind });
    }
  }
  const inOrder = [...folders].sort(([a], [b]) => (a < b ? -1 : 1));
  return inOrder.flatMap(([, entries]) => [...entries.values()].sort((a, b) => (a.name < b.name ? -1 : 1)));
}
