import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { ChatError } from '../errors.ts';
import { readSessionText } from '../files/chat-files.ts';
import {
  parseEntry,
  parseHeader,
  type SessionEntry,
  type EntryBody,
  type EntryOf,
  type SessionHeader,
  noResult,
  unfinishedCalls,
} from './entry.ts';
import { withImages } from './kept-images.ts';
import { lock, SessionFile, unlock } from './session-file.ts';

/** The choices of the person; what is undefined is as the configuration says. */
export type SessionState = Omit<EntryOf<'set'>, 'type' | 'id' | 'parent' | 'ts'>;

const newId = (): string => randomBytes(4).toString('hex');

/**
 * A conversation: a tree of entries, of which one branch is the one that goes on. Entries only ever come
 * after the one they hang on, so there is no cycle.
 */
export class ChatSession {
  readonly header: SessionHeader;
  /** The last choices, on whichever branch: it is no part of the tree. */
  state: SessionState = {};
  /** The entry that the next one hangs on; null at the beginning. */
  leaf: string | null = null;
  /** Lines of its file that could not be read. */
  damaged = 0;
  readonly #entries = new Map<string, SessionEntry>();
  #newest: string | null = null;
  readonly #file: SessionFile | undefined;

  /** Makes a session; without a file it is kept nowhere. */
  constructor(header: SessionHeader, file?: SessionFile) {
    this.header = header;
    this.#file = file;
  }

  get id(): string {
    return this.header.id;
  }
  /** The file it is kept in; undefined as long as nothing was said, and for one that is kept nowhere. */
  get file(): string | undefined {
    return this.#file?.isMade ? this.#file.path : undefined;
  }

  /** Returns the entries from the root to the leaf. */
  path(): readonly SessionEntry[] {
    const found: SessionEntry[] = [];
    for (let at = this.entry(this.leaf ?? ''); at; at = this.entry(at.parent ?? '')) found.push(at);
    return found.toReversed();
  }
  entry = (id: string): SessionEntry | undefined => this.#entries.get(id);
  /** All of the tree, oldest first. */
  entries = (): readonly SessionEntry[] => [...this.#entries.values()];

  /**
   * Writes the entry, then returns it. Throws SESSION_UNUSABLE when it cannot be written; all is as before,
   * then.
   */
  append(body: EntryBody): SessionEntry {
    let id = newId();
    while (this.entry(id)) id = newId();
    const line = JSON.stringify({ id, parent: this.leaf, ts: new Date().toISOString(), ...body });
    // Read back, so that it is now what it will be after a restart, whatever becomes of `body`.
    const entry = parseEntry(line);
    if (!entry) throw new TypeError(`This is no entry: ${line.slice(0, 200)}`);
    this.#file?.write(entry, body.type === 'user');
    this.take(entry);
    return entry;
  }

  /** The next entry hangs on this one. Throws USAGE for one that is not there. */
  moveTo(id: string | null): void {
    if (id === this.leaf) return;
    if (id !== null && !this.entry(id)) throw new ChatError('USAGE', `There is no entry ${id}: see /tree.`);
    this.append({ type: 'leaf', to: id });
  }

  /** Takes the next entry of its file; `isNew`: it is not in it yet. */
  take(entry: SessionEntry, isNew = false): void {
    if (isNew) this.#file?.write(entry, entry.type === 'user');
    if (entry.type === 'set') {
      const { type: _, id: _id, parent: _parent, ts: _ts, ...chosen } = entry;
      this.state = { ...this.state, ...chosen };
    } else if (entry.type === 'leaf') this.leaf = this.#placeOf(entry.to);
    else if (!this.#entries.has(entry.id)) this.#add(entry);
  }

  close(): void {
    this.#file?.close();
  }

  /**
   * Finds the parent: what hangs on an entry that cannot be read, or is of a later version, hangs on the one
   * before it in the file.
   */
  #placeOf(id: string | null): string | null {
    return id === null || this.#entries.has(id) ? id : this.#newest;
  }

  #add(given: SessionEntry): void {
    const parent = this.#placeOf(given.parent);
    const entry = parent === given.parent ? given : { ...given, parent };
    this.#entries.set(entry.id, entry);
    this.#newest = entry.id;
    this.leaf = entry.id;
  }
}

/** A new session, whose file will be in a folder; without a folder it is kept nowhere. */
export function createSession(
  folder: string | undefined,
  more: Pick<SessionHeader, 'cwd' | 'temporary' | 'parent'>,
): ChatSession {
  const created = new Date().toISOString();
  const id = newId();
  const header: SessionHeader = { v: 1, type: 'session', id, created, ...more };
  const name = `${created.replaceAll(/[:.]/g, '-')}_${id}.jsonl`;
  const file = folder === undefined ? undefined : new SessionFile(join(folder, name));
  file?.write(header, false);
  return new ChatSession(header, file);
}

/** Opens a session to go on with it; a copy when another process has it open. Throws SESSION_UNUSABLE. */
export function openOrFork(folder: string, path: string): ChatSession {
  readSessionText(path, 1); // Throws for what is no file of ours, before a lock is put beside it.
  const isOurs = lock(path);
  try {
    // Read after the lock was taken, so that nothing is appended in between.
    const [first = '', ...lines] = readSessionText(path).split('\n');
    const header = parseHeader(first);
    const why = 'is no session of this version, or its first line is damaged';
    if (!header) throw new ChatError('SESSION_UNUSABLE', `${path} cannot be used: it ${why}.`);
    const session = new ChatSession(header, isOurs ? new SessionFile(path, true) : undefined);
    for (const line of lines) {
      const entry = parseEntry(line);
      if (entry) session.take(withImages(entry, path));
      else if (line !== '') session.damaged++;
    }
    return isOurs ? session : copyElsewhere(folder, session);
  } catch (error) {
    if (isOurs) unlock(path);
    throw error;
  }
}

/** A new session that begins with the path to the leaf, and all that was chosen. */
export function forkSession(folder: string, session: ChatSession): ChatSession {
  const { cwd, temporary } = session.header;
  const copy = createSession(folder, { cwd, parent: session.id, ...(temporary && { temporary }) });
  // Two of one name could not be told apart.
  const { name: _, ...chosen } = session.state;
  copy.append({ type: 'set', ...chosen });
  for (const entry of session.path()) copy.take(entry, true);
  return copy;
}

/**
 * Copies a session that is open elsewhere: its open calls are asked about, or still run, in the other window.
 */
function copyElsewhere(folder: string, session: ChatSession): ChatSession {
  const copy = forkSession(folder, session);
  const unknown = { state: 'done', text: noResult, isError: true } as const;
  for (const { call } of unfinishedCalls(copy.path()))
    copy.append({ type: 'tool', callId: call.id, name: call.name, ...unknown });
  copy.damaged = session.damaged;
  return copy;
}
