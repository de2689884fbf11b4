import { lstatSync, readlinkSync, type Dirent, type Stats } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { decode } from '../../machine/decode.ts';
import { unreadable, type Opened } from '../../machine/paths/opened.ts';
import { codeOf } from '../../machine/paths/real-path.ts';
import { ignoreRules } from './ignore-rules.ts';

export interface ListedEntry {
  /** Below the listed folder, with `/` between names. */
  readonly path: string;
  readonly kind: 'file' | 'folder' | 'link' | 'fifo' | 'socket' | 'device' | 'unknown';
  /** The bytes of its name, where they are no UTF-8. */
  readonly bytes?: Buffer;
  readonly isIgnored?: boolean;
}

export interface Listing {
  readonly items: readonly ListedEntry[];
  readonly notes: readonly string[];
}

/** What one folder holds, read from it, in order of names. Throws what cannot be read. */
export async function listFolder(opened: Opened): Promise<Listing> {
  const isIgnored = ignoreRules(opened.path);
  const items = (await entriesOf(opened)).map((entry) =>
    isIgnored(entry.path, entry.kind === 'folder') ? { ...entry, isIgnored: true } : entry,
  );
  return { items, notes: [] };
}

async function entriesOf({ path, stablePath }: Opened): Promise<ListedEntry[]> {
  try {
    const found = await readdir(stablePath, { withFileTypes: true });
    const isText = !found.some(({ name }) => name.includes('\ufffd'));
    const entries = isText
      ? found.map((entry) => ({ path: entry.name, kind: kindOf(entry) }))
      : (await readdir(stablePath, { withFileTypes: true, encoding: 'buffer' })).map((entry) => ({
          path: decode(entry.name),
          bytes: entry.name,
          kind: kindOf(entry),
        }));
    return entries.sort((a, b) => (a.path < b.path ? -1 : 1));
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

/** What is known of an entry, and where a link leads; undefined when it is gone, or may not be looked at. */
export const statOf = (opened: Opened, entry: ListedEntry): Stats | undefined =>
  asked(() => lstatSync(placeOf(opened, entry), { throwIfNoEntry: false }));

export const targetOf = (opened: Opened, entry: ListedEntry): string | undefined =>
  asked(() => decode(readlinkSync(placeOf(opened, entry), 'buffer')));

const placeOf = ({ stablePath }: Opened, { path, bytes }: ListedEntry): string | Buffer =>
  bytes ? Buffer.concat([Buffer.from(`${stablePath}/`), bytes]) : `${stablePath}/${path}`;

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
