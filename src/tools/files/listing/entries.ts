import { isUtf8 } from 'node:buffer';
import { lstatSync, readlinkSync, type Dirent, type Stats } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { decode } from '../../../machine/decode.ts';
import { unreadable, type OpenedFile } from '../../../machine/paths/opened.ts';
import { codeOf } from '../../../machine/paths/real-path.ts';
import { printedPath, scopeOf, searchAll } from '../searching/ripgrep.ts';
import type { Listing } from '../../../machine/known-files.ts';
import type { Session } from '../../../machine/session.ts';
import { countOf } from '../wording.ts';
import type { GlobPattern } from './glob-pattern.ts';
import { ignoreRules } from './ignore-rules.ts';

/** What is listed, as far as it is known without a look at each. */
export interface ListedEntry {
  /** Below the listed folder, with `/` between names. */
  readonly path: string;
  readonly kind: 'file' | 'folder' | 'link' | 'fifo' | 'socket' | 'device';
}

/** What one folder holds, read from it, in order of names or newest first. Throws what cannot be read. */
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

interface FileSearch {
  readonly where: OpenedFile;
  readonly pattern: GlobPattern | undefined;
  /** Below so many levels only the folders are told. */
  readonly depth: number;
  readonly hidden: boolean;
  readonly ignored: boolean;
  readonly sort: 'path' | 'modified';
  readonly signal: AbortSignal;
}

/** More than the largest repositories have. */
const mostBytes = 32 * 1024 * 1024;

/**
 * All files below a folder, or those that a pattern chooses, in order, by one run of ripgrep. Throws as
 * `search`.
 */
export async function findFiles(session: Session, request: FileSearch): Promise<Listing> {
  const { where, pattern, depth, ignored, sort, signal } = request;
  const chooser = scopeOf(request);
  // Threads find files sooner than one does in order.
  const order = sort === 'modified' ? ['--sortr=modified'] : [];
  const asked = { argv: ['--files', '--null', ...order, ...chooser.argv, '--'], where, ignored, signal };
  const { printed, ...ended } = await searchAll(session, asked, mostBytes);
  const chosen = namesIn(printed).filter(chooser.isChosen);
  if (sort === 'path') chosen.sort();
  const enough = `stopped after ${countOf(chosen.length, 'file')}: search a smaller folder`;
  const items = pattern ? chosen : [...new Set(chosen.map((path) => downTo(path, depth)))];
  return { items, notes: [...(ended.isEnough ? [enough] : []), ...ended.notes] };
}

/**
 * Each is decoded for itself: they may be in several encodings, and parts of one long string are compared
 * slowly.
 */
function namesIn(printed: Buffer): string[] {
  const text = isUtf8(printed)
    ? (from: number, to: number) => printed.toString('utf8', from, to)
    : (from: number, to: number) => decode(printed.subarray(from, to));
  const names: string[] = [];
  for (let from = 0, to = printed.indexOf(0); to >= 0; from = to + 1, to = printed.indexOf(0, from)) {
    const below = printed[from] === dot && printed[from + 1] === slash ? from + 2 : from;
    names.push(printedPath(text(below, to)));
  }
  return names;
}

const [dot, slash] = Buffer.from('./');

function downTo(path: string, depth: number): string {
  const names = path.split('/');
  return names.length > depth ? `${names.slice(0, depth).join('/')}/` : path;
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
export const statOf = ({ stablePath }: OpenedFile, path: string): Stats | undefined =>
  asked(() => lstatSync(`${stablePath}/${path}`, { throwIfNoEntry: false }));

export const targetOf = ({ stablePath }: OpenedFile, path: string): string | undefined =>
  asked(() => readlinkSync(`${stablePath}/${path}`));

/** Without a thread in between, which is ten times faster for many. */
function asked<Value>(ask: () => Value): Value | undefined {
  try {
    return ask();
  } catch {
    // Gone meanwhile, or not to be looked at.
    return undefined;
  }
}
