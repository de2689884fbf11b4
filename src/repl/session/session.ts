import { randomBytes } from 'node:crypto';
import { dirname } from 'node:path';
import { ChatError } from '../errors.ts';
import { makePrivateFolder } from '../files/private-file.ts';
import { parseEntry, type Entry, type EntryBody, type SessionHeader } from './entry.ts';
import { createFile, type SessionFile } from './session-file.ts';
import { isSetting, noSettings, settle, type Settings } from './settings.ts';

export const newId = (): string => randomBytes(4).toString('hex');

const lineOf = (value: object): string => `${JSON.stringify(value)}\n`;

/**
 * A conversation: a tree of entries, of which one branch is the one that goes on. Entries only ever come after the one
 * they hang on, so there is no cycle.
 */
export class Session {
  readonly header: SessionHeader;
  /** What was set, on whichever branch, and the entries that say so. */
  settings: Settings = noSettings;
  readonly set: Entry[] = [];
  /** The entry that the next one hangs on; null at the beginning. */
  leaf: string | null = null;
  readonly #entries = new Map<string, Entry>();
  readonly #children = new Map<string | null, Entry[]>();
  #path: Entry[] | undefined = [];
  #newest: string | null = null;
  #file: SessionFile | undefined;
  /** Where its file will be, and what it will begin with; a session that is opened and left leaves nothing. */
  #waiting: { readonly path: string; readonly lines: string[] } | undefined;

  /** `path`: where its file will be; without it, it is kept nowhere, or in a file that is given later. */
  constructor(header: SessionHeader, path?: string) {
    this.header = header;
    if (path !== undefined) this.#waiting = { path, lines: [lineOf(header)] };
  }

  get id(): string {
    return this.header.id;
  }
  /** Where it is kept; undefined as long as nothing was said, and for one that is kept nowhere. */
  get file(): string | undefined {
    return this.#file?.path;
  }
  get name(): string | undefined {
    return this.settings.name;
  }

  /** From the root to the leaf, or to another entry. That to the leaf grows with `append`. */
  path(to?: string | null): readonly Entry[] {
    return to === undefined ? (this.#path ??= this.#pathTo(this.leaf)) : this.#pathTo(to);
  }
  entry = (id: string): Entry | undefined => this.#entries.get(id);
  /** What hangs on an entry, oldest first; on null: what begins the conversation. */
  children = (id: string | null): readonly Entry[] => this.#children.get(id) ?? [];

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
    this.take(entry);
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
      this.take(entry);
      this.#waiting?.lines.push(lineOf(entry));
    }
    if (entries.some(({ type }) => type === 'user')) this.#start();
  }

  /** Takes the next entry of its file. */
  take(entry: Entry): void {
    if (isSetting(entry)) {
      this.settings = settle(this.settings, entry);
      this.set.push(entry);
    } else if (entry.type === 'leaf') {
      this.leaf = this.#placeOf(entry.to);
      this.#path = undefined;
    } else if (!this.#entries.has(entry.id)) this.#add(entry);
  }

  keepIn(file: SessionFile): void {
    this.#file = file;
  }

  close(): void {
    this.#file?.close();
  }

  /** What hangs on an entry that cannot be read, or is of a later version, hangs on the one before it in the file. */
  #placeOf(id: string | null): string | null {
    return id === null || this.#entries.has(id) ? id : this.#newest;
  }

  #add(given: Entry): void {
    const parent = this.#placeOf(given.parent);
    const entry = parent === given.parent ? given : { ...given, parent };
    this.#entries.set(entry.id, entry);
    const siblings = this.#children.get(parent);
    if (siblings) siblings.push(entry);
    else this.#children.set(parent, [entry]);
    if (parent === this.leaf) this.#path?.push(entry);
    else this.#path = undefined;
    this.leaf = this.#newest = entry.id;
  }

  #pathTo(id: string | null): Entry[] {
    const found: Entry[] = [];
    for (let at = this.#entries.get(id ?? ''); at; at = this.#entries.get(at.parent ?? '')) found.push(at);
    return found.toReversed();
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
