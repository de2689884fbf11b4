import { readdirSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { cacheFolder, prunePrivate, readCache, thisPlatform, writeCache } from '../../store/own-files.ts';

/**
 * The answers to a client's first requests, as they were the last time.
 */
export interface StartCache {
  /** The program, its folder and its Node; see startKey(). */
  readonly start: string;
  /** Milliseconds since 1970. */
  readonly keptAt: number;
  /** The variables that were read, and a digest of their values, of which some are secret. */
  readonly variables: { readonly names: readonly string[]; readonly digest: number };
  /** Stamps of files by path; an empty string where there was none. */
  readonly stamps: Readonly<Record<string, string>>;
  /**
   * Digests of the names in folders, by path. One that looks changed may hold what it held: pyenv makes locks
   * in its.
   */
  readonly names: Readonly<Record<string, number>>;
  /** The identity of folders by path, whatever is in them. */
  readonly folders: Readonly<Record<string, string>>;
  /** Results by request; see requestKey(). */
  readonly results: CachedResults;
}

export type CachedResults = Readonly<Record<string, unknown>>;

/** The place of a start's answers in the private cache folder. */
export interface StartKey {
  readonly folder: string;
  readonly name: string;
  readonly start: string;
}

/** The answers that were given before the server was there, and the rest of the input. */
export interface EarlyAnswers {
  readonly remembered: StartKey;
  /** The answers that hold; empty when something has changed. */
  readonly results: CachedResults;
  /** The last request for the list that was answered. */
  readonly listed?: JsonRpcRequest;
  /** The handshake again, with ids that begin with `replayedId`, then what was not answered. */
  readonly input: Buffer;
}

export interface JsonRpcRequest {
  readonly jsonrpc: '2.0';
  readonly id: string | number;
  readonly method: string;
  readonly params?: Record<string, unknown>;
}

/** An answer to such an id is for nobody. */
export const replayedId = 'toolcrib-replayed-';
/** Lists that hosts ask for as soon as they know that they can. */
export const firstLists: ReadonlySet<unknown> = new Set([
  'tools/list',
  'prompts/list',
  'resources/list',
  'resources/templates/list',
]);
/** Requests whose answers do not depend on what was called before. */
export const firstMethods: ReadonlySet<unknown> = new Set(['initialize', 'server/discover', ...firstLists]);

/** A login shell is asked once a day what its PATH is. */
const goodForMs = 24 * 60 * 60 * 1000;
const [mostFiles, mostResults] = [50, 20];

/** The cache folder of this user. */
export function ownCache(): string | undefined {
  return cacheFolder(thisPlatform(), process.env, homedir());
}

/**
 * The key of this start; undefined where nothing can be kept. `built`: the file that answers when nothing is.
 */
export function startKey(args: readonly string[], built: string): StartKey | undefined {
  const cache = ownCache();
  if (cache === undefined) return undefined;
  const start = JSON.stringify([process.version, built, stampOf(built), process.cwd(), args]);
  return { folder: join(cache, 'start'), name: `${digestOf(start).toString(16)}.json`, start };
}

/** The answers that were kept, as long as all that they depend on is as it was. */
export function readStartCache({ folder, name, start }: StartKey): CachedResults | undefined {
  const kept = readCache(folder, name) as StartCache | undefined;
  try {
    if (kept?.start !== start) return undefined;
    const age = Date.now() - kept.keptAt;
    const isSame =
      age >= 0 &&
      age < goodForMs &&
      digestOfVariables(kept.variables.names) === kept.variables.digest &&
      Object.keys(kept.stamps).every((path) => isUnchanged(path, kept)) &&
      Object.keys(kept.folders).every((path) => folderStampOf(path) === kept.folders[path]);
    return isSame ? kept.results : undefined;
  } catch {
    // Damaged: the same as never kept.
    return undefined;
  }
}

function isUnchanged(path: string, { stamps, names }: StartCache): boolean {
  const [before = '', now] = [stamps[path], stampOf(path)];
  if (now === before) return true;
  return (
    names[path] !== undefined && isSameFile(now, before) && digestOfNames(readdirSync(path)) === names[path]
  );
}

/** Keeps answers for the next start. Does nothing where it cannot. */
export function writeStartCache(
  { folder, name, start }: StartKey,
  seen: Omit<StartCache, 'start' | 'keptAt'>,
): void {
  if (Object.keys(seen.results).length > mostResults) return;
  prunePrivate(folder, mostFiles);
  writeCache(folder, name, { start, keptAt: Date.now(), ...seen } satisfies StartCache);
}

interface JsonRpcMessage extends Omit<JsonRpcRequest, 'id'> {
  /** Left out of a notification. */
  readonly id?: JsonRpcRequest['id'];
}

/** A message whose answer may be known; undefined for everything that is not exactly what a client sends. */
export function readMessage(line: string): JsonRpcMessage | undefined {
  try {
    const { jsonrpc, id, method, params, ...more } = JSON.parse(line) as JsonRpcMessage;
    const isKnown = id === undefined || typeof id === 'string' || Number.isSafeInteger(id);
    if (jsonrpc !== '2.0' || !isKnown || typeof method !== 'string' || Object.keys(more).length > 0)
      return undefined;
    return { jsonrpc, method, ...(id !== undefined && { id }), ...(params !== undefined && { params }) };
  } catch {
    // The server says what is wrong with it.
    return undefined;
  }
}

/** Two requests with the same key get the same answer, but for its id. */
export const requestKey = ({ method, params }: Pick<JsonRpcRequest, 'method' | 'params'>): string =>
  JSON.stringify({ method, params });

/** A stamp of what is at a path, as far as finding programs and reading settings can depend on it. */
export function stampOf(path: string): string {
  const facts = factsOf(path);
  return facts ? [facts.ino, facts.mode, facts.size, facts.mtimeMs].join() : '';
}

/** True for two stamps of the same thing with the same permissions. */
const isSameFile = (one: string, other: string): boolean =>
  one.split(',', 2).join() === other.split(',', 2).join();

export const digestOfNames = (names: readonly string[]): number => digestOf(names.join('/'));

export const isFolder = (path: string): boolean => factsOf(path)?.isDirectory() === true;

/** The identity of the folder at a path. */
export const folderStampOf = (path: string): string => String(factsOf(path)?.ino ?? '');

function factsOf(path: string) {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    // Below a file, or below what we may not look into: not there, for us.
    return undefined;
  }
}

export const digestOfVariables = (names: readonly string[]): number =>
  digestOf(JSON.stringify(names.map((name) => process.env[name] ?? null)));

/** FNV-1a (Fowler, Noll, Vo), 32 bits: to tell starts apart, not to keep anybody out. */
export function digestOf(text: string): number {
  let digest = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) digest = Math.imul(digest ^ text.charCodeAt(at), 0x01000193) >>> 0;
  return digest;
}
