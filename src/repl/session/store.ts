import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, realpathSync, rmSync, statSync } from 'node:fs';
import { basename, join, relative, resolve } from 'node:path';
import { ChatError } from '../errors.ts';
import { textOf } from '../message.ts';
import { parseLine } from './check-entry.ts';
import type { Entry, SessionHeader } from './entry.ts';
import { linesOf, tailOf } from './file-lines.ts';
import { isLocked } from './lock.ts';
import { oneLine } from './one-line.ts';
import { unusable } from './own-folder.ts';

/** What can be told of a session without reading all of it. Its texts are as they were written: print none of them raw. */
export interface SessionInfo {
  readonly id: string;
  readonly file: string;
  /** Its name, or the first line of what was said first. */
  readonly name: string;
  readonly cwd: string;
  /** ISO 8601. */
  readonly created: string;
  readonly modified: string;
  /** Roughly, for a long one. */
  readonly entries: number;
  readonly temporary: boolean;
  readonly parent?: string;
  /** Why it cannot be opened. */
  readonly damaged?: string;
}

/** The sessions of a project, and of all others. */
export interface Store {
  /** Where the sessions of this project are. */
  readonly folder: string;
  /** Newest first; a file that cannot be used is in the list, and says why. */
  list(): SessionInfo[];
  /** Those of all projects, newest first. */
  listAll(): SessionInfo[];
  /** The newest that can be opened. */
  latest(): SessionInfo | undefined;
  /** By id, by name, or by the beginning of either; of this project before others. Throws USAGE when several fit. */
  find(which: string): SessionInfo | undefined;
  /** Throws SESSION_UNUSABLE for one that is open, and for what is no session of ours. */
  remove(file: string): void;
  /** Removes temporary sessions that were not used for 48 hours; returns how many. */
  removeExpired(now: number): number;
}

const temporaryMs = 48 * 60 * 60 * 1000;
/** Read of the end of a file, where its name is; more than `nameEvery` of session.ts. */
const tailBytes = 64 * 1024;
/** Read at most to get as far as what was said first, which may be after a long text that was attached. */
const headBytes = 4 * 1024 * 1024;
const longestName = 100;

/** `state`: the REPL's state folder. `cwd`: the project's; two paths to the same folder have the same sessions. */
export function sessionStore(state: string, cwd: string): Store {
  const all = join(state, 'sessions');
  const folder = join(all, folderNameOf(cwd));
  const listAll = () => foldersIn(all).flatMap(sessionsIn).sort(newestFirst).map(infoOf);
  const list = () => (isFolder(folder) ? sessionsIn(folder).sort(newestFirst).map(infoOf) : []);

  const remove = (file: string) => {
    const inside = relative(all, resolve(file)).split(/[\\/]/);
    if (inside.length !== 2 || inside.includes('..') || !file.endsWith('.jsonl')) {
      throw unusable(file, 'is no session of ours');
    }
    if (isLocked(file)) {
      throw new ChatError('SESSION_UNUSABLE', `${basename(file)} was not removed: it is open in a window.`);
    }
    rmSync(file, { force: true });
    rmSync(`${file}.lock`, { force: true });
  };

  return {
    folder,
    list,
    listAll,
    latest() {
      if (!isFolder(folder)) return undefined;
      for (const found of sessionsIn(folder).sort(newestFirst)) {
        const info = infoOf(found);
        if (info.damaged === undefined) return info;
      }
      return undefined;
    },
    find(which) {
      if (which.trim() === '') return undefined;
      return pick(which, list()) ?? pick(which, listAll());
    },
    remove,
    removeExpired(now) {
      const old = foldersIn(all)
        .flatMap(sessionsIn)
        .filter(
          ({ file, modified }) =>
            now - modified > temporaryMs && headerOf(file)?.temporary && !isLocked(file),
        );
      for (const { file } of old) remove(file);
      return old.length;
    },
  };
}

/** The project's name, to be recognised by people, and a hash of its path, to be different from others of that name. */
function folderNameOf(cwd: string): string {
  let path = resolve(cwd);
  try {
    path = realpathSync.native(path);
  } catch {
    // It is gone; its sessions are still to be found.
  }
  const slug = basename(path)
    .replaceAll(/[^\w.-]+/g, '-')
    .slice(0, 40)
    .replace(/^[.-]+/, '');
  return `${slug || 'root'}-${createHash('sha256').update(path).digest('hex').slice(0, 8)}`;
}

interface Found {
  readonly file: string;
  readonly modified: number;
  readonly size: number;
}

const newestFirst = (a: Found, b: Found): number => b.modified - a.modified || (a.file < b.file ? 1 : -1);

const isFolder = (path: string): boolean =>
  lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;

/** Links are passed over: only what we made ourselves is ours. */
const foldersIn = (all: string): string[] =>
  isFolder(all)
    ? readdirSync(all, { withFileTypes: true }).flatMap((entry) =>
        entry.isDirectory() ? [join(all, entry.name)] : [],
      )
    : [];

const sessionsIn = (folder: string): Found[] =>
  readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (!entry.isFile() || !entry.name.endsWith('.jsonl')) return [];
    const file = join(folder, entry.name);
    const stats = statSync(file, { throwIfNoEntry: false });
    return stats ? [{ file, modified: stats.mtimeMs, size: stats.size }] : [];
  });

function headerOf(file: string): SessionHeader | undefined {
  try {
    for (const text of linesOf(file, tailBytes)) {
      const line = parseLine(text);
      return line.kind === 'header' && Number(line.header.v) === 1 ? line.header : undefined;
    }
  } catch {
    // What cannot be read has no header either.
  }
  return undefined;
}

function infoOf({ file, modified, size }: Found): SessionInfo {
  const shared = { file, modified: new Date(modified).toISOString() };
  try {
    const header = headerOf(file);
    if (!header) return damagedInfo(shared, 'damaged, or of another version');
    const { id, cwd, created, parent, temporary = false } = header;
    const tail = tailOf(file, size, tailBytes).split('\n');
    const [name = ''] = (nameIn(tail) ?? firstSaid(file)).trim().split('\n', 1);
    // One line is the header, and what follows the last line end is none.
    const entries = Math.max(0, Math.round(tail.length * Math.max(1, size / tailBytes)) - 2);
    const info = { ...shared, id, cwd, created, name: oneLine(name, longestName), entries, temporary };
    return parent === undefined ? info : { ...info, parent };
  } catch (error) {
    return damagedInfo(shared, `cannot be read: ${String((error as { code?: unknown }).code)}`);
  }
}

function damagedInfo(shared: Pick<SessionInfo, 'file' | 'modified'>, damaged: string): SessionInfo {
  const id = /_([^_]+)\.jsonl$/.exec(shared.file)?.[1] ?? basename(shared.file);
  const unknown = { cwd: '', created: shared.modified, entries: 0, temporary: false };
  return { ...shared, ...unknown, id, name: `(${damaged})`, damaged };
}

function nameIn(lines: readonly string[]): string | undefined {
  for (const text of lines.toReversed()) {
    if (!text.includes('"type":"name"')) continue;
    const line = parseLine(text);
    if (line.kind === 'entry' && line.entry.type === 'name') return line.entry.name;
  }
  return undefined;
}

function firstSaid(file: string): string {
  for (const text of linesOf(file, headBytes)) {
    const line = parseLine(text);
    if (line.kind === 'entry' && line.entry.type === 'user') return said(line.entry);
  }
  return '';
}

/** What the person typed, or else what it became. */
const said = ({ typed, content }: Extract<Entry, { type: 'user' }>): string =>
  typed ?? textOf(content.filter((part) => part.type !== 'stored'));

function pick(which: string, sessions: readonly SessionInfo[]): SessionInfo | undefined {
  const wanted = which.trim().toLowerCase();
  const named = (info: SessionInfo) => info.name.toLowerCase();
  // The newest of the same name; of those that only begin so, there must be no other.
  const exact =
    sessions.find(({ id, file }) => id === wanted || file === which) ??
    sessions.find((info) => named(info) === wanted);
  if (exact) return exact;
  const found = sessions.filter((info) => info.id.startsWith(wanted) || named(info).startsWith(wanted));
  if (found.length <= 1) return found[0];
  const some = found.slice(0, 5).map(({ id, name }) => `${id} (${name})`);
  throw new ChatError('USAGE', `"${which}" fits ${found.length} sessions; say more: ${some.join(', ')}`);
}
