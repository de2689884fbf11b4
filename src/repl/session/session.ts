import { randomBytes } from 'node:crypto';
import { dirname, join } from 'node:path';
import { ChatError } from '../errors.ts';
import { makePrivateFolder, readSessionText } from '../files/private-file.ts';
import { parseEntry, parseHeader, type Entry, type EntryBody, type SessionHeader } from './entry.ts';
import { takeLock } from './lock.ts';
import { createFile, openFile, type SessionFile } from './session-file.ts';
import { noResult, unfinishedCalls } from './unfinished.ts';
import type { Settings } from './settings.ts';
import { Tree } from './tree.ts';

const newId = (): string => randomBytes(4).toString('hex');

/** A conversation: a tree of entries, of which one branch is the one that goes on. */
export class Session {
  readonly header: SessionHeader;
  readonly #tree: Tree;
  #file: SessionFile | undefined;
  /** Where its file will be, and what it will begin with; a session that is opened and left leaves nothing. */
  #waiting: { readonly path: string; readonly lines: string[] } | undefined;

  constructor(header: SessionHeader, tree: Tree, keeping: { file?: SessionFile; path?: string }) {
    this.header = header;
    this.#tree = tree;
    this.#file = keeping.file;
    if (keeping.path !== undefined) this.#waiting = { path: keeping.path, lines: [lineOf(header)] };
  }

  get id(): string {
    return this.header.id;
  }
  /** Where it is kept; undefined as long as nothing was said, and for one that is kept nowhere. */
  get file(): string | undefined {
    return this.#file?.path;
  }
  /** What was set, on whichever branch. */
  get settings(): Settings {
    return this.#tree.settings;
  }
  /** The entries that say so. */
  get set(): readonly Entry[] {
    return this.#tree.set;
  }
  get name(): string | undefined {
    return this.settings.name;
  }
  /** The entry that the next one hangs on; null at the beginning. */
  get leaf(): string | null {
    return this.#tree.leaf;
  }

  /** From the root to the leaf, or to another entry. That to the leaf grows with `append`. */
  path = (to?: string | null): readonly Entry[] =>
    to === undefined ? this.#tree.path : this.#tree.pathTo(to);
  entry = (id: string): Entry | undefined => this.#tree.entry(id);
  children = (id: string | null): readonly Entry[] => this.#tree.children(id);

  /** Writes the entry, then returns it. Throws SESSION_UNUSABLE when it cannot be written; all is as before, then. */
  append(body: EntryBody): Entry {
    let id = newId();
    while (this.entry(id)) id = newId();
    const stamp = { id, parent: this.leaf, ts: new Date().toISOString() };
    // Twice: to stand first in the line, and to win over those of an entry that is given as a body.
    const line = lineOf(Object.assign({ type: body.type, ...stamp }, body, stamp));
    // Read back, so that it is now what it will be after a restart, whatever becomes of `body`.
    const entry = parseEntry(line);
    if (!entry) throw new TypeError(`This is no entry: ${line.slice(0, 200)}`);
    this.#write(line, body.type === 'user');
    this.#tree.take(entry);
    return entry;
  }

  /** The next entry hangs on this one. Throws USAGE for one that is not there. */
  moveTo(id: string | null): void {
    if (id === this.leaf) return;
    if (id !== null && !this.entry(id)) throw new ChatError('USAGE', `There is no entry ${id}: see /tree.`);
    this.append({ type: 'leaf', to: id });
  }

  /** Takes over what another session holds, as the first of its lines. */
  begin(entries: readonly Entry[]): void {
    for (const entry of entries) {
      this.#tree.take(entry);
      this.#waiting?.lines.push(lineOf(entry));
    }
    if (entries.some(({ type }) => type === 'user')) this.#start();
  }

  close(): void {
    this.#file?.close();
  }

  /** Its file is made with the first thing that the person says. */
  #write(line: string, said: boolean): void {
    if (this.#file) return this.#file.write(line);
    this.#waiting?.lines.push(line);
    if (!said) return;
    try {
      this.#start();
    } catch (error) {
      this.#waiting?.lines.pop();
      throw error;
    }
  }

  #start(): void {
    if (!this.#waiting) return;
    const { path, lines } = this.#waiting;
    // The folder above it first: either could have been put there by somebody else.
    makePrivateFolder(dirname(dirname(path)), 'SESSION_UNUSABLE');
    makePrivateFolder(dirname(path), 'SESSION_UNUSABLE');
    this.#file = createFile(path, lines.join(''));
    this.#waiting = undefined;
  }
}

const lineOf = (value: object): string => `${JSON.stringify(value)}\n`;

/** A new session, whose file is made in a folder; without a folder it is kept nowhere. */
export function createSession(
  folder: string | undefined,
  more: Pick<SessionHeader, 'cwd' | 'temporary' | 'parent'>,
): Session {
  const { temporary, parent, cwd } = more;
  const created = new Date().toISOString();
  const id = newId();
  const header: SessionHeader = {
    v: 1,
    type: 'session',
    id,
    cwd,
    created,
    ...(parent === undefined ? {} : { parent }),
    ...(temporary ? { temporary } : {}),
  };
  const name = `${created.replaceAll(/[:.]/g, '-')}_${id}.jsonl`;
  return new Session(header, new Tree(), folder === undefined ? {} : { path: join(folder, name) });
}

/** A session as it is now, whoever has it open. Throws SESSION_UNUSABLE for what is no session of this version. */
function readSession(file: string): { header: SessionHeader; tree: Tree } {
  const [first = '', ...lines] = readSessionText(file).split('\n');
  if (first === '') throw unusable(file, 'is empty');
  const header = parseHeader(first);
  if (header === undefined) throw unusable(file, 'is no session, or its first line is damaged');
  if (typeof header === 'number') throw unusable(file, `was written by another version (${header})`);
  const tree = new Tree();
  for (const line of lines) {
    const entry = parseEntry(line);
    if (entry) tree.take(entry);
  }
  return { header, tree };
}

export const unusable = (path: string, why: string): ChatError =>
  new ChatError('SESSION_UNUSABLE', `${path} cannot be used: it ${why}.`);

/** Opens a session to go on with it; a copy when another process has it open. Throws SESSION_UNUSABLE. */
export function openOrFork(folder: string, file: string): { session: Session; forked: boolean } {
  readSessionText(file, 1); // Throws for what is no file of ours, before a lock is put beside it.
  const lock = takeLock(file);
  try {
    // Read after the lock was taken, so that nothing is appended in between.
    const { header, tree } = readSession(file);
    const opened = new Session(header, tree, lock ? { file: openFile(file, lock) } : {});
    return lock
      ? { session: opened, forked: false }
      : { session: copyElsewhere(folder, opened), forked: true };
  } catch (error) {
    lock?.release();
    throw error;
  }
}

/** A new session that begins with the path to an entry, or to the leaf, and all that was set. */
export function forkSession(folder: string, session: Session, at?: string | null): Session {
  const { cwd, temporary } = session.header;
  const copy = createSession(folder, { cwd, parent: session.id, ...(temporary ? { temporary } : {}) });
  copy.begin([...session.set, ...session.path(at)]);
  return copy;
}

/** Its open calls are asked about, or still run, in the other window. */
function copyElsewhere(folder: string, session: Session): Session {
  const copy = forkSession(folder, session);
  const unknown = { state: 'done', text: noResult, isError: true } as const;
  for (const { call } of unfinishedCalls(copy.path()))
    copy.append({ type: 'tool', callId: call.id, name: call.name, ...unknown });
  return copy;
}
