import { lstatSync, readlinkSync, type Dirent } from 'node:fs';
import { decode } from '../machine/decode.ts';
import { shownPath } from '../machine/shown-path.ts';
import { pathBelow, type HeldFolder } from './held-folder.ts';

/** The lines of one answer: blocks of entries, each but the first under the path of its folder. */
export interface ListPage {
  /** How many more entries there is room for. */
  readonly room: number;
  readonly count: number;
  /** Whether an entry was refused. */
  readonly full: boolean;
  /** Names on the way to the last entry, from the listed folder on. */
  readonly last: readonly string[] | undefined;
  /** Adds an entry; false when there is no room. */
  add(line: string, names: readonly string[], folder: string): boolean;
  /** Says something about a folder in place of its entries. */
  say(note: string, folder: string): void;
  text(): string;
}

/** A page of at most so many entries and characters. `top` is the folder whose entries need no heading. */
export function listPage({
  limit,
  characters,
  top,
}: {
  limit: number;
  characters: number;
  top: string;
}): ListPage {
  const lines: string[] = [];
  let count = 0;
  let left = characters;
  let full = false;
  let last: readonly string[] | undefined;
  let block = top;
  const put = (line: string, folder: string) => {
    const header = folder === block ? [] : ['', `${shownPath(folder)}:`];
    block = folder;
    for (const each of [...(lines.length === 0 ? header.slice(1) : header), line]) {
      lines.push(each);
      left -= each.length + 1;
    }
  };
  return {
    get room() {
      return limit - count;
    },
    get count() {
      return count;
    },
    get full() {
      return full;
    },
    get last() {
      return last;
    },
    add(line, names, folder) {
      const header = folder === block ? 0 : folder.length + 3;
      full ||= count >= limit || (count > 0 && line.length + 1 + header > left);
      if (full) return false;
      put(line, folder);
      count++;
      last = names;
      return true;
    },
    say: put,
    text: () => lines.join('\n'),
  };
}

/** One entry as a line. `tag` says what else there is to say about a folder. */
export function lineOf(
  entry: Dirent,
  folder: HeldFolder,
  { bytes, sizes, tag }: { bytes: Buffer | undefined; sizes: boolean; tag: string },
): string {
  const name = shownName(entry.name);
  if (entry.isDirectory()) return `${name}/${tag === '' ? '' : `  [${tag}]`}`;
  if (entry.isFile()) {
    const size = sizes ? sizeOf(pathBelow(folder, entry.name, bytes)) : undefined;
    return size === undefined ? name : `${name}  ${withCommas(size)}`;
  }
  if (entry.isSymbolicLink()) {
    const target = targetOf(pathBelow(folder, entry.name, bytes));
    return target === undefined ? `${name}  [link]` : `${name} -> ${shownName(target)}`;
  }
  return `${name}  [${kindOf(entry)}]`;
}

/** Quoted when it could be read as a name with something behind it, as the end of the listing, or as two lines. */
function shownName(name: string): string {
  const shown = shownPath(name);
  return shown === name && /^[\s[]|\s$|\s\s| -> |[/:]$/.test(name) ? JSON.stringify(name) : shown;
}

function kindOf(entry: Dirent): string {
  if (entry.isFIFO()) return 'fifo';
  if (entry.isSocket()) return 'socket';
  return entry.isCharacterDevice() || entry.isBlockDevice() ? 'device' : 'unknown';
}

/**
 * Asked without a thread in between, which is ten times faster for many. It could only be kept waiting by a mounted file
 * system that has just listed the file. Undefined when it is gone.
 */
function sizeOf(path: string | Buffer): number | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.size;
  } catch {
    // A folder may be listed by somebody who may not look at what is in it.
    return undefined;
  }
}

function targetOf(path: string | Buffer): string | undefined {
  try {
    return decode(readlinkSync(path, 'buffer'));
  } catch {
    // It went away, or was replaced, after it was listed; its name is still what the folder said.
    return undefined;
  }
}

const withCommas = (size: number): string => String(size).replaceAll(/\B(?=(?:\d{3})+$)/g, ',');
