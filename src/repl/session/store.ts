import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, realpathSync, rmSync, statSync, type Dirent } from 'node:fs';
import { basename, join, relative, resolve } from 'node:path';
import { ChatError } from '../errors.ts';
import { readSessionText } from '../files/private-file.ts';
import { textOf } from '../message.ts';
import { oneLine } from '../text/one-line.ts';
import { parseEntry, parseHeader } from './entry.ts';
import { isLocked } from './lock.ts';
import { unusable } from './open-session.ts';

/** What is listed of a session. Its texts are as they were written: print none of them raw. */
export interface SessionInfo {
  readonly id: string;
  readonly file: string;
  /** Its name, or the first line of what was said first. */
  readonly name: string;
  readonly modified: string;
  readonly temporary?: boolean | undefined;
  /** Why it cannot be opened. */
  readonly damaged?: string;
}

const temporaryMs = 48 * 60 * 60 * 1000;
/** The first line has no long text. */
const headBytes = 64 * 1024;
const longestName = 100;

/** The sessions of a project, and of all others. */
export class Store {
  /** Where the sessions of this project are. */
  readonly folder: string;
  readonly #all: string;

  /** `state`: the chat's state folder. `cwd`: the project's; two paths to the same folder have the same sessions. */
  constructor(state: string, cwd: string) {
    this.#all = join(state, 'sessions');
    this.folder = join(this.#all, folderNameOf(cwd));
  }

  /** Newest first; a file that cannot be used is in the list, and says why. */
  list = (): SessionInfo[] => sessionsIn([this.folder]);
  /** Those of all projects. Links are passed over: only what we made ourselves is ours. */
  listAll = (): SessionInfo[] =>
    sessionsIn(
      entriesIn(this.#all)
        .filter((entry) => entry.isDirectory())
        .map(({ name }) => join(this.#all, name)),
    );
  /** The newest that can be opened. */
  latest = (): SessionInfo | undefined => this.list().find(({ damaged }) => damaged === undefined);

  /** By id, by name, or by the beginning of either; of this project before others. Throws USAGE when several fit. */
  find(which: string): SessionInfo | undefined {
    if (which.trim() === '') return undefined;
    return pick(which, this.list()) ?? pick(which, this.listAll());
  }

  /** Throws SESSION_UNUSABLE for one that is open, and for what is no session of ours. */
  remove(file: string): void {
    const inside = relative(this.#all, resolve(file)).split(/[\\/]/);
    if (inside.length !== 2 || inside.includes('..') || !file.endsWith('.jsonl'))
      throw unusable(file, 'is no session of ours');
    if (isLocked(file))
      throw new ChatError('SESSION_UNUSABLE', `${basename(file)} was not removed: it is open in a window.`);
    for (const path of [file, `${file}.lock`]) rmSync(path, { force: true });
  }

  /** Removes temporary sessions that were not used for 48 hours; returns how many. */
  removeExpired(now: number): number {
    const isOver = ({ file, modified, temporary }: SessionInfo) =>
      temporary && now - Date.parse(modified) > temporaryMs && !isLocked(file);
    const old = this.listAll().filter(isOver);
    for (const { file } of old) this.remove(file);
    return old.length;
  }
}

/** The project's name, to be recognised by people, and a hash of its path, to be different from others of that name. */
function folderNameOf(cwd: string): string {
  let path = resolve(cwd);
  try {
    path = realpathSync.native(path);
  } catch {
    // It is gone; its sessions are still to be found.
  }
  const clean = basename(path).replaceAll(/[^\w.-]+/g, '-');
  const slug = clean.slice(0, 40).replace(/^[.-]+/, '') || 'root';
  return `${slug}-${createHash('sha256').update(path).digest('hex').slice(0, 8)}`;
}

const sessionsIn = (folders: readonly string[]): SessionInfo[] =>
  folders
    .flatMap((folder) =>
      entriesIn(folder).flatMap((entry) => {
        if (!entry.isFile() || !entry.name.endsWith('.jsonl')) return [];
        const file = join(folder, entry.name);
        const modified = statSync(file, { throwIfNoEntry: false })?.mtime.toISOString();
        return modified === undefined ? [] : [infoOf(file, modified)];
      }),
    )
    .sort((a, b) => (`${a.modified} ${a.file}` < `${b.modified} ${b.file}` ? 1 : -1));

const entriesIn = (folder: string): Dirent[] =>
  lstatSync(folder, { throwIfNoEntry: false })?.isDirectory()
    ? readdirSync(folder, { withFileTypes: true })
    : [];

function infoOf(file: string, modified: string): SessionInfo {
  const damaged = (why: string): SessionInfo => {
    const id = /_([^_]+)\.jsonl$/.exec(file)?.[1] ?? basename(file);
    return { file, modified, id, name: `(${why})`, damaged: why };
  };
  try {
    const header = parseHeader(readSessionText(file, headBytes).split('\n', 1)[0] ?? '');
    if (typeof header !== 'object') return damaged('damaged, or of another version');
    const { id, temporary } = header;
    let name: string | undefined;
    return {
      file,
      modified,
      id,
      temporary,
      // It may stand anywhere in a large file: looked for only when somebody wants to see it.
      get name() {
        return (name ??= nameOf(file));
      },
    };
  } catch (error) {
    return damaged(`cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** The last name it was given, or else what the person typed first. Most lines need not be parsed for that. */
function nameOf(file: string): string {
  let lines: string[];
  try {
    lines = readSessionText(file).split('\n');
  } catch {
    return ''; // Removed since it was listed.
  }
  const short = (text: string) => oneLine(text.trim().split('\n', 1)[0] ?? '', longestName);
  for (const line of lines.toReversed()) {
    const entry = line.includes('"type":"name"') ? parseEntry(line) : undefined;
    if (entry?.type === 'name') return short(entry.name);
  }
  for (const line of lines) {
    const entry = parseEntry(line);
    if (entry?.type === 'user') return short(entry.typed ?? textOf(entry.content));
  }
  return '';
}

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
