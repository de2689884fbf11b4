import { isUtf8 } from 'node:buffer';
import { lstatSync, readlinkSync, type Dirent, type Stats } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { decode } from '../../../machine/decode.ts';
import { unreadable, type OpenedFile } from '../../../machine/paths/opened.ts';
import { codeOf } from '../../../machine/paths/real-path.ts';
import { printedPath, selectFiles, searchAll } from '../searching/ripgrep.ts';
import type { Listing } from '../../../machine/known-files.ts';
import type { Session } from '../../../machine/session.ts';
import { formatCount } from '../wording.ts';
import type { GlobPattern } from './glob-pattern.ts';
import { ignoreRules } from './ignore-rules.ts';

/** An entry of a listing, as far as it is known without a look at the file. */
export interface ListedEntry {
  /** The path below the listed folder, with `/` between names. */
  readonly path: string;
  readonly kind: 'file' | 'folder' | 'link' | 'fifo' | 'socket' | 'device';
}

/** Reads the entries of one folder, by name or newest first. Throws when it cannot be read. */
export async function listFolder(folder: OpenedFile, sort: 'path' | 'modified'): Promise<Listing> {
  const { path, stablePath } = folder;
  const items = await readdir(stablePath, { withFileTypes: true }).catch((error: unknown) => {
    throw unreadable(path, codeOf(error));
  });
  items.sort((a, b) => (a.name < b.name ? -1 : 1));
  if (sort === 'modified') {
    const changed = new Map(items.map((entry) => [entry, statOf(folder, entry.name)?.mtimeMs ?? 0]));
    items.sort((a, b) => (changed.get(b) ?? 0) - (changed.get(a) ?? 0));
  }
  return { items, notes: [], isIgnored: ignoreRules(path) };
}

/** A search for files below a folder. */
interface FileSearch {
  readonly folder: OpenedFile;
  readonly pattern: GlobPattern | undefined;
  /** Levels of folders that are listed; of deeper files, only the folder at this level. */
  readonly depth: number;
  readonly hidden: boolean;
  readonly ignored: boolean;
  readonly sort: 'path' | 'modified';
  readonly signal: AbortSignal;
}

/** Bytes of all paths; the largest repositories have less. */
const mostBytes = 32 * 1024 * 1024;

/**
 * Finds all files below a folder, or those that match a pattern, by one run of ripgrep. Throws what search()
 * throws.
 */
export async function findFiles(session: Session, request: FileSearch): Promise<Listing> {
  const { folder, pattern, depth, ignored, sort, signal } = request;
  const selection = selectFiles(request);
  // Sorting here is faster: to print files in order of names, ripgrep would use one thread only.
  const order = sort === 'modified' ? ['--sortr=modified'] : [];
  const argv = ['--files', '--null', ...order, ...selection.argv, '--'];
  const options = { argv, target: folder, ignored, signal };
  const { printed, isEnough, notes } = await searchAll(session, options, mostBytes);
  const chosen = namesIn(printed).filter(selection.isChosen);
  if (sort === 'path') chosen.sort();
  const stopNote = `stopped after ${formatCount(chosen.length, 'file')}: search a smaller folder`;
  const items = pattern ? chosen : [...new Set(chosen.map((path) => limitDepth(path, depth)))];
  return { items, notes: [...(isEnough ? [stopNote] : []), ...notes] };
}

/**
 * Splits printed paths at their NULs. Each is decoded by itself, as they may be in several encodings, and as
 * parts of one long string are slow to compare.
 */
function namesIn(printed: Buffer): string[] {
  const isUtf = isUtf8(printed);
  const text = (from: number, to: number) =>
    isUtf ? printed.toString('utf8', from, to) : decode(printed.subarray(from, to));
  const names: string[] = [];
  let from = 0;
  for (;;) {
    const to = printed.indexOf(0, from);
    if (to === -1) return names;
    const hasPrefix = printed[from] === dot && printed[from + 1] === slash;
    names.push(printedPath(text(hasPrefix ? from + 2 : from, to)));
    from = to + 1;
  }
}

const [dot, slash] = Buffer.from('./');

/** A path that is not deeper than `depth` as it is; of a deeper one, the folder at that depth. */
function limitDepth(path: string, depth: number): string {
  const names = path.split('/');
  return names.length > depth ? `${names.slice(0, depth).join('/')}/` : path;
}

/**
 * The entry for an item of a listing: one that was read from a folder, or a path with `/` at the end of a
 * folder.
 */
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

/** The facts of an entry; undefined when it is gone, or may not be looked at. */
export const statOf = ({ stablePath }: OpenedFile, path: string): Stats | undefined =>
  undefinedOnError(() => lstatSync(`${stablePath}/${path}`, { throwIfNoEntry: false }));

/** The target of a link; undefined when it is gone, or may not be looked at. */
export const targetOf = ({ stablePath }: OpenedFile, path: string): string | undefined =>
  undefinedOnError(() => readlinkSync(`${stablePath}/${path}`));

/**
 * The value that a synchronous call reads: ten times faster for many entries than calls that use a thread.
 */
function undefinedOnError<Value>(read: () => Value): Value | undefined {
  try {
    return read();
  } catch {
    // The entry is gone, or may not be looked at.
    return undefined;
  }
}
