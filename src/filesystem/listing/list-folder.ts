import { lstatSync, readlinkSync, type Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { ToolcribError } from '../../core/errors.ts';
import { decode } from '../../machine/decode.ts';
import { ownFoldersBelow } from '../../machine/paths/own-folders.ts';
import { unreadable, type Opened } from '../../machine/paths/opened.ts';
import { codeOf } from '../../machine/paths/real-path.ts';
import { shownPath } from '../../machine/paths/shown-path.ts';
import type { RootedWorkspace } from '../../machine/paths/workspace.ts';
import { withCommas } from '../with-commas.ts';

/** What is asked about a folder. */
export interface Listing {
  readonly workspace: RootedWorkspace;
  readonly signal: AbortSignal;
  readonly depth: number;
  readonly hidden: boolean;
  readonly sizes: boolean;
  /** Whether ignored folders are gone into. */
  readonly ignored: boolean;
  /** Which entries ignore rules leave out, by their path below the listed folder. */
  readonly leftOut: ReadonlySet<string>;
}

/** The entries of a folder, then those of each of its folders. */
export interface ListedFolder {
  /** Of each line: the folder it stands in, below the listed one; '' or ending with `/`. */
  readonly folders: readonly string[];
  readonly lines: readonly string[];
  /** Of each line: the folder and the name of the entry. */
  readonly paths: readonly string[];
  /** How many names that begin with a dot were left out. */
  readonly hidden: number;
  readonly notes: readonly string[];
}

/** More than anyone pages through. */
const mostEntries = 200_000;
/** Sizes and targets of links that are asked for without letting others work. */
const askedAtOnce = 1000;

/** Links are named and never followed. Throws what cannot be read of the folder itself, and CANCELLED. */
export async function listFolder(opened: Opened, listing: Listing): Promise<ListedFolder> {
  const folders: string[] = [];
  const lines: string[] = [];
  const paths: string[] = [];
  const notes = new Set<string>();
  let hidden = 0;
  const own = ownFoldersBelow(opened.path);

  const tagOf = (path: string, { entry, isText }: Entry) => {
    if (entry.isDirectory() && listing.depth > 1)
      if (entry.name === '.git' || own.has(path) || !isText) return 'not entered';
    return listing.leftOut.has(path) ? 'ignored' : '';
  };
  const add = (folder: string, name: string, line: string) => {
    folders.push(folder);
    lines.push(line);
    paths.push(folder + name);
  };

  async function addFolder(folder: Opened, below: string, depth: number): Promise<void> {
    const further: string[] = [];
    for (const [index, found] of (await entriesOf(folder)).entries()) {
      const { entry } = found;
      if (index % askedAtOnce === 0) await othersWork(listing.signal);
      if (!listing.hidden && entry.name.startsWith('.')) hidden++;
      else if (lines.length >= mostEntries) notes.add(`stopped after ${withCommas(mostEntries)} entries`);
      else {
        const tag = tagOf(below + entry.name, found);
        add(below, entry.name, lineOf(found, folder, listing.sizes, tag));
        const isEntered = entry.isDirectory() && (tag === '' || (tag === 'ignored' && listing.ignored));
        if (depth < listing.depth && isEntered) further.push(entry.name);
      }
    }
    for (const name of further) await goInto(folder, name, `${below}${name}/`, depth + 1);
  }

  async function goInto(above: Opened, name: string, below: string, depth: number): Promise<void> {
    const path = join(above.path, name);
    try {
      const folder = await listing.workspace.openFolder(path);
      try {
        // What a link leads to has been put in the place of the folder.
        if (folder.path === path) await addFolder(folder, below, depth);
      } finally {
        await folder.handle.close();
      }
    } catch (error) {
      if (!(error instanceof ToolcribError) || error.code === 'CANCELLED') throw error;
      if (error.code === 'PATH_DENIED') add(below, '', '[may not be read]');
      // It vanished after it was listed, or is none that is ever opened.
      else if (error.code !== 'PATH_NOT_FOUND') add(below, '', '[not entered]');
    }
  }

  await addFolder(opened, '', 1);
  return { folders, lines, paths, hidden, notes: [...notes] };
}

interface Entry {
  readonly entry: Dirent;
  /** By which the system knows it. */
  readonly name: string | Buffer;
  /** Whether its name is UTF-8, so that a path with it can be opened. */
  readonly isText: boolean;
}

async function entriesOf({ path, stablePath }: Opened): Promise<Entry[]> {
  try {
    const entries = await readdir(stablePath, { withFileTypes: true });
    const isText = !entries.some(({ name }) => name.includes('\ufffd'));
    const found = isText
      ? entries.map((entry) => ({ entry, name: entry.name, isText }))
      : (await readdir(stablePath, { withFileTypes: true, encoding: 'buffer' })).map(withText);
    return found.sort((a, b) => (a.entry.name < b.entry.name ? -1 : 1));
  } catch (error) {
    throw unreadable(path, codeOf(error));
  }
}

function withText(found: Dirent<Buffer>): Entry {
  const { name } = found;
  const text = decode(name);
  const entry: Dirent = Object.assign(Object.create(Object.getPrototypeOf(found)), found, { name: text });
  return { entry, name, isText: name.equals(Buffer.from(text)) };
}

async function othersWork(signal: AbortSignal): Promise<void> {
  await new Promise(setImmediate);
  if (signal.aborted) throw new ToolcribError('CANCELLED', 'The call was cancelled.');
}

/** One entry as a line. */
function lineOf({ entry, name }: Entry, { stablePath }: Opened, sizes: boolean, tag: string): string {
  const marked = tag === '' ? '' : `  [${tag}]`;
  const shown = shownName(entry.name);
  if (entry.isDirectory()) return `${shown}/${marked}`;
  const place =
    typeof name === 'string' ? `${stablePath}/${name}` : Buffer.concat([Buffer.from(`${stablePath}/`), name]);
  if (entry.isFile()) {
    const size = sizes ? asked(() => lstatSync(place, { throwIfNoEntry: false })?.size) : undefined;
    return size === undefined ? shown + marked : `${shown}  ${withCommas(size)}${marked}`;
  }
  if (entry.isSymbolicLink()) {
    const target = asked(() => decode(readlinkSync(place, 'buffer')));
    return target === undefined ? `${shown}  [link]` : `${shown} -> ${shownName(target)}`;
  }
  return `${shown}  [${kindOf(entry)}]`;
}

/**
 * Asked without a thread in between, which is ten times faster for many. It could only be kept waiting by a mounted
 * file system that has just listed the file. Undefined when it is gone, or may not be looked at.
 */
function asked<Value>(ask: () => Value): Value | undefined {
  try {
    return ask();
  } catch {
    return undefined;
  }
}

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
