import { randomBytes } from 'node:crypto';
import { dirname, join } from 'node:path';
import { ChatError } from '../errors.ts';
import { makePrivateFolder, readSessionText } from '../files/private-file.ts';
import { parseLine, wellFormedJson, type Line } from './check-entry.ts';
import type { Entry, EntryBody, SessionHeader } from './entry.ts';
import { takeLock } from './lock.ts';
import { createFile, openFile, type SessionFile } from './session-file.ts';
import { createTree, type Tree } from './tree.ts';

/** A conversation: a tree of entries, of which one branch is the one that goes on. */
export interface Session {
  readonly id: string;
  readonly header: SessionHeader;
  /** Where it is kept; undefined as long as nothing was said, and for one that is kept nowhere. */
  readonly file: string | undefined;
  /** The last name it was given, on whichever branch. */
  readonly name: string | undefined;
  /** The entry that the next one hangs on; null at the beginning. */
  readonly leaf: string | null;
  /** From the root to the leaf. The list grows with `append`; take a copy to keep it as it is. */
  path(): readonly Entry[];
  entry(id: string): Entry | undefined;
  /** What hangs on an entry, oldest first; on null: what begins the conversation. */
  children(id: string | null): readonly Entry[];
  /**
   * Writes the entry, then returns it. Throws SESSION_UNUSABLE when it cannot be written; the session is as before,
   * then.
   */
  append(body: EntryBody): Entry;
  /** The next entry hangs on this one. Throws USAGE for one that is not there. */
  moveTo(id: string | null): void;
  close(): void;
}

/** What a new session begins with. */
interface Beginning {
  readonly cwd: string;
  readonly temporary?: boolean;
  /** The session it was forked from, and what it takes over from there. */
  readonly parent?: string;
  readonly entries?: readonly Entry[];
}

/**
 * A new session. Its file is made with the first thing that the person says: one that is opened and left leaves
 * nothing. Throws SESSION_UNUSABLE then, or here when it takes over what was said already.
 */
export function createSession(store: { readonly folder: string }, beginning: Beginning): Session {
  const { header, tree } = begin(beginning);
  const time = header.created.replaceAll(/[:.]/g, '-');
  const waiting = [header, ...tree.path()].map((entry) => `${wellFormedJson(JSON.stringify(entry))}\n`);
  let file: SessionFile | undefined;
  const start = () => {
    // The folder above it first: either could have been put there by somebody else.
    makePrivateFolder(dirname(store.folder), 'SESSION_UNUSABLE');
    makePrivateFolder(store.folder, 'SESSION_UNUSABLE');
    file = createFile(join(store.folder, `${time}_${header.id}.jsonl`), waiting.join(''));
    waiting.length = 0;
  };
  const write = (lines: string, first: EntryBody['type']) => {
    if (file) return file.write(lines);
    waiting.push(lines);
    if (first !== 'user') return;
    try {
      start();
    } catch (error) {
      waiting.pop();
      throw error;
    }
  };
  if (tree.path().some(({ type }) => type === 'user')) start();
  return sessionOf(header, tree, { write, close: () => file?.close(), path: () => file?.path });
}

/** A session that is kept nowhere. */
export function memorySession(cwd: string): Session {
  const { header, tree } = begin({ cwd });
  return sessionOf(header, tree, { write: () => {}, close: () => {}, path: () => undefined });
}

/**
 * Opens a session to go on with it; undefined when another process has it open. Throws SESSION_UNUSABLE for a file
 * that is no session or of another version.
 */
export function openSession(file: string): Session | undefined {
  readSessionText(file, 1); // Throws for what is no file of ours, before a lock is put beside it.
  const lock = takeLock(file);
  if (!lock) return undefined;
  try {
    // Read after the lock was taken, so that nothing is appended in between.
    const { header, tree } = readSession(file);
    const opened = openFile(file, lock);
    return sessionOf(header, tree, { write: opened.write, close: opened.close, path: () => file });
  } catch (error) {
    lock.release();
    throw error;
  }
}

/**
 * A session as it is now, whoever has it open. Throws SESSION_UNUSABLE for a file that is no session or of another
 * version.
 */
export function readSession(file: string): { header: SessionHeader; tree: Tree } {
  const [first = '', ...lines] = readSessionText(file).split('\n');
  if (first === '') throw unusable(file, 'is empty');
  const header = headerOf(file, parseLine(first));
  const tree = createTree();
  for (const line of lines) tree.take(parseLine(line));
  return { header, tree };
}

export const unusable = (path: string, why: string): ChatError =>
  new ChatError('SESSION_UNUSABLE', `${path} cannot be used: it ${why}.`);

function headerOf(file: string, line: Line): SessionHeader {
  if (line.kind !== 'header') throw unusable(file, 'is no session, or its first line is damaged');
  const version: number = line.header.v;
  if (version !== 1) throw unusable(file, `was written by another version (${version})`);
  return line.header;
}

function begin({ cwd, temporary, parent, entries = [] }: Beginning): { header: SessionHeader; tree: Tree } {
  const header: SessionHeader = {
    v: 1,
    type: 'session',
    id: newId(),
    cwd,
    created: new Date().toISOString(),
    ...(parent === undefined ? {} : { parent }),
    ...(temporary ? { temporary } : {}),
  };
  const tree = createTree();
  for (const entry of entries) tree.take({ kind: 'entry', entry });
  return { header, tree };
}

interface Keeper {
  /** Takes whole lines, and what the first of them is. */
  write(lines: string, first: EntryBody['type']): void;
  close(): void;
  path(): string | undefined;
}

function sessionOf(header: SessionHeader, tree: Tree, keeper: Keeper): Session {
  const lineOf = (body: EntryBody): string => {
    let id = newId();
    while (tree.entry(id)) id = newId();
    const stamp = { id, parent: tree.leaf, ts: new Date().toISOString() };
    // Twice: to stand first in the line, and to win over those of an entry that is given as a body.
    return `${wellFormedJson(JSON.stringify(Object.assign({ type: body.type, ...stamp }, body, stamp)))}\n`;
  };

  const append = (body: EntryBody): Entry => {
    const lines = lineOf(body);
    // Read back, so that it is now what it will be after a restart, whatever becomes of `body`.
    const line = parseLine(lines);
    if (line.kind !== 'entry') throw new TypeError(`This is no entry: ${lines.slice(0, 200)}`);
    keeper.write(lines, body.type);
    tree.take(line);
    return line.entry;
  };

  return {
    id: header.id,
    header,
    get file() {
      return keeper.path();
    },
    get name() {
      return tree.name;
    },
    get leaf() {
      return tree.leaf;
    },
    path: tree.path,
    entry: tree.entry,
    children: tree.children,
    append,
    moveTo(id) {
      if (id === tree.leaf) return;
      if (id !== null && !tree.entry(id)) throw new ChatError('USAGE', `There is no entry ${id}: see /tree.`);
      append({ type: 'leaf', to: id });
    },
    close: keeper.close,
  };
}

const newId = (): string => randomBytes(4).toString('hex');
