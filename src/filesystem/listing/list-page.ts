import { lstatSync, readlinkSync, type Dirent } from 'node:fs';
import { decode } from '../../machine/decode.ts';
import { shownPath } from '../../machine/paths/shown-path.ts';
import { pathBelow, type HeldFolder } from './held-folder.ts';
import { withCommas } from '../with-commas.ts';

/** A folder whose entries make a block. */
export interface Block {
  /** As the next call can take it. */
  readonly path: string;
  /** From the listed folder on. */
  readonly names: readonly string[];
}

/** The lines of one answer: blocks, each but that of the listed folder itself under its path. */
export interface ListPage {
  /** How many more lines there is room for. */
  readonly room: number;
  /** How many entries there are on it. */
  readonly entries: number;
  /** Whether a line was refused. */
  readonly full: boolean;
  /** Adds the line of an entry, or with '' for its name that of a block without any; false when there is no room. */
  add(line: string, name: string, block: Block): boolean;
  /** Names on the way to the last entry, from the listed folder on; undefined on an empty page. */
  last(): readonly string[] | undefined;
  text(): string;
}

/** A page of at most so many lines and characters. */
export function listPage(limit: number, characters: number): ListPage {
  const lines: string[] = [];
  let count = 0;
  let entries = 0;
  let left = characters;
  let full = false;
  let lastName: string | undefined;
  let lastBlock: readonly string[] = [];
  let heading = '';
  return {
    get room() {
      return limit - count;
    },
    get entries() {
      return entries;
    },
    get full() {
      return full;
    },
    add(line, name, block) {
      const needed = block.names.length === 0 || block.path === heading ? '' : `${shownPath(block.path)}:`;
      const length = line.length + 1 + (needed === '' ? 0 : needed.length + 2);
      full ||= count >= limit || (count > 0 && length > left);
      if (full) return false;
      if (needed !== '') {
        if (count > 0) lines.push('');
        lines.push(needed);
        heading = block.path;
      }
      lines.push(line);
      left -= length;
      count++;
      if (name !== '') entries++;
      lastName = name;
      lastBlock = block.names;
      return true;
    },
    last: () => (lastName === undefined ? undefined : [...lastBlock, lastName]),
    text: () => lines.join('\n'),
  };
}

/** What is shown of the entries of a folder. */
export interface View {
  readonly folder: HeldFolder;
  /** Of names that are no UTF-8. */
  readonly bytes: ReadonlyMap<string, Buffer>;
  readonly sizes: boolean;
}

/** One entry as a line. `tag` is what else there is to say about a folder. */
export function lineOf(entry: Dirent, view: View, tag: string): string {
  const name = shownName(entry.name);
  if (entry.isDirectory()) return tag === '' ? `${name}/` : `${name}/  [${tag}]`;
  if (entry.isFile()) {
    const size = view.sizes ? sizeOf(placeOf(entry, view)) : undefined;
    return size === undefined ? name : `${name}  ${withCommas(size)}`;
  }
  if (entry.isSymbolicLink()) {
    const target = targetOf(placeOf(entry, view));
    return target === undefined ? `${name}  [link]` : `${name} -> ${shownName(target)}`;
  }
  return `${name}  [${kindOf(entry)}]`;
}

const placeOf = ({ name }: Dirent, { folder, bytes }: View): string | Buffer =>
  pathBelow(folder, name, bytes.get(name));

/** Quoted when it could be read as a name with something behind it, as the end of the listing, or as two lines. */
function shownName(name: string): string {
  if (/^[\w.][\w.+@~-]*$/.test(name)) return name;
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
