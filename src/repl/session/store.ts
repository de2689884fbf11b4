import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, realpathSync, rmSync, statSync, type Dirent } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { ChatError } from '../errors.ts';
import { readSessionText } from '../files/chat-files.ts';
import { inLine } from '../terminal/printable.ts';
import { parseEntry, parseHeader, wordsOf } from './entry.ts';
import { isLocked, unlock } from './session-file.ts';

/** A session in a list. Its texts are as they were written: print none of them raw. */
export interface SessionInfo {
  readonly id: string;
  readonly file: string;
  /** The name, or the first line of what was said first. */
  readonly name: string;
  readonly modified: string;
  readonly temporary?: boolean | undefined;
}

const temporaryMs = 48 * 60 * 60 * 1000;
const mostHits = 20;
/** The first line has no long text. */
const headBytes = 64 * 1024;

/** The sessions of a project, and of all others. */
export class SessionStore {
  /** The folder of this project's sessions. */
  readonly folder: string;
  readonly #all: string;

  /**
   * `state`: the chat's state folder. `cwd`: the project's; two paths to the same folder have the same
   * sessions.
   */
  constructor(state: string, cwd: string) {
    this.#all = join(state, 'sessions');
    this.folder = join(this.#all, folderNameOf(cwd));
  }

  /** Lists the sessions of this project that can be opened, newest first. */
  list = (): SessionInfo[] => sessionsIn([this.folder]);
  /** Lists the sessions of all projects. Links are passed over: only what we made ourselves is ours. */
  listAll = (): SessionInfo[] =>
    sessionsIn(
      entriesIn(this.#all)
        .filter((entry) => entry.isDirectory())
        .map(({ name }) => join(this.#all, name)),
    );

  /**
   * Finds a session by id, by name, or by the beginning of either; of this project before others. Throws
   * USAGE when several fit, SESSION_UNUSABLE when none does.
   */
  find(which: string): SessionInfo {
    const wanted = which.trim().toLowerCase();
    const found = wanted === '' ? undefined : (pick(wanted, this.list()) ?? pick(wanted, this.listAll()));
    if (found) return found;
    const way = '/resume, or toolcrib chat --resume, lists them.';
    throw new ChatError('SESSION_UNUSABLE', `There is no session "${which}" in this project; ${way}`);
  }

  /** Throws SESSION_UNUSABLE for one that is open. */
  remove({ file }: SessionInfo): void {
    if (isLocked(file))
      throw new ChatError('SESSION_UNUSABLE', `${basename(file)} was not removed: it is open in a window.`);
    rmSync(file, { force: true });
    unlock(file);
  }

  /** Removes temporary sessions that were not used for 48 hours. */
  removeExpired(): void {
    const old = this.listAll().filter(
      ({ file, modified, temporary }) =>
        temporary && Date.now() - Date.parse(modified) > temporaryMs && !isLocked(file),
    );
    for (const info of old) this.remove(info);
  }
}

/**
 * The project's name, to be recognised by people, and a hash of its path, to be different from others of that
 * name.
 */
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
      entriesIn(folder)
        .filter((entry) => entry.isFile() && entry.name.endsWith('.jsonl'))
        .flatMap(({ name }) => sessionInfo(join(folder, name)) ?? []),
    )
    .sort((a, b) => (`${a.modified} ${a.file}` < `${b.modified} ${b.file}` ? 1 : -1));

const entriesIn = (folder: string): Dirent[] =>
  lstatSync(folder, { throwIfNoEntry: false })?.isDirectory()
    ? readdirSync(folder, { withFileTypes: true })
    : [];

/** Describes a session; undefined for what is none that could be opened. */
function sessionInfo(file: string): SessionInfo | undefined {
  try {
    const header = parseHeader(readSessionText(file, headBytes).split('\n', 1)[0] ?? '');
    let name: string | undefined;
    return (
      header && {
        file,
        modified: statSync(file).mtime.toISOString(),
        id: header.id,
        temporary: header.temporary,
        // It may stand anywhere in a large file: looked for only when somebody wants to see it.
        get name() {
          name ??= nameOf(file);
          return name;
        },
      }
    );
  } catch {
    return undefined; // Removed since, or of somebody else.
  }
}

/** The last name it was given, or else the first line of what the person typed first. */
function nameOf(file: string): string {
  const entries = linesIn(file).flatMap((line) =>
    /"type":"(?:set|user)"/.test(line) ? (parseEntry(line) ?? []) : [],
  );
  const given = entries.findLast((entry) => entry.type === 'set' && entry.name !== undefined);
  const first = entries.find((entry) => entry.type === 'user');
  const text = given?.type === 'set' ? given.name : first && wordsOf(first)?.text;
  return inLine(text?.trim().split('\n', 1)[0] ?? '', 100);
}

function linesIn(file: string): string[] {
  try {
    return readSessionText(file).split('\n');
  } catch {
    return []; // Removed since it was listed.
  }
}

/** The newest of the same name; of those that only begin so, there must be no other. */
function pick(wanted: string, sessions: readonly SessionInfo[]): SessionInfo | undefined {
  const keys = ({ id, name }: SessionInfo) => [id, name.toLowerCase()];
  const exact = sessions.find((info) => keys(info).includes(wanted));
  if (exact) return exact;
  const found = sessions.filter((info) => keys(info).some((key) => key.startsWith(wanted)));
  if (found.length <= 1) return found[0];
  const some = found.slice(0, 5).map(({ id, name }) => `${id} (${name})`);
  throw new ChatError('USAGE', `"${wanted}" fits ${found.length} sessions; say more: ${some.join(', ')}`);
}

/**
 * Finds in each session, in the given order, the newest entry in which all words occur, in any case.
 * `excerpt`: one line around the first word, as it was written: do not print it raw. Throws USAGE for a query
 * without a word.
 */
export function searchSessions(sessions: readonly SessionInfo[], query: string) {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) throw new ChatError('USAGE', 'Say what to look for, as in: /search word another');
  const hits: { session: SessionInfo; role: string; excerpt: string }[] = [];
  for (const session of sessions)
    for (const line of linesIn(session.file).toReversed()) {
      const entry = parseEntry(line);
      const { role, text } = (entry && wordsOf(entry)) ?? { role: '', text: '' };
      const small = text.toLowerCase();
      if (!words.every((word) => small.includes(word))) continue;
      const from = Math.max(0, small.indexOf(words[0] ?? '') - 60);
      const excerpt = `${from > 0 ? '…' : ''}${inLine(text.slice(from, from + 1000), 200)}`;
      hits.push({ session, role, excerpt });
      if (hits.length === mostHits) return hits;
      break;
    }
  return hits;
}
