import { createHash, randomBytes } from 'node:crypto';
import { lstatSync, readFileSync, readdirSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Part } from '../message.ts';
import type { StoredPart } from './entry.ts';
import { linesOf } from './file-lines.ts';
import { ownFolder } from './own-folder.ts';
import type { Store } from './store.ts';

/** What was attached, before it is kept. */
export interface Attached {
  readonly bytes: Buffer;
  readonly mimeType: string;
  /** What the person calls it. */
  readonly name: string;
}

/** Another process may have kept a part and not yet said so in its session: what is younger is never removed. */
const youngMs = 60 * 60 * 1000;
const isHash = (text: string): boolean => /^[0-9a-f]{64}$/.test(text);

/** Keeps bytes under their hash, once however often they are attached. Throws SESSION_UNUSABLE for a folder not ours. */
export function keepPart(folder: string, { bytes, mimeType, name }: Attached): StoredPart {
  const sha256 = hashOf(bytes);
  const path = join(ownFolder(folder), sha256);
  const there = lstatSync(path, { throwIfNoEntry: false });
  if (there?.isFile() && there.size === bytes.length) {
    utimesSync(path, new Date(), new Date());
  } else {
    const temporary = `${path}.${randomBytes(4).toString('hex')}`;
    try {
      writeFileSync(temporary, bytes, { mode: 0o600, flag: 'wx' });
      renameSync(temporary, path);
    } finally {
      rmSync(temporary, { force: true });
    }
  }
  return { type: 'stored', sha256, mimeType, bytes: bytes.length, name };
}

/** The part as a model is sent it; a line of text that says so when it is gone or damaged. Never throws. */
export function loadPart(folder: string, { sha256, mimeType, name }: StoredPart): Part {
  // It comes from a file: no other path than a hash may be made of it.
  const bytes = isHash(sha256) ? read(join(folder, sha256)) : undefined;
  if (!bytes || hashOf(bytes) !== sha256)
    return { type: 'text', text: `[attachment ${name} is no longer there]` };
  return mimeType.startsWith('image/')
    ? { type: 'image', mimeType, data: bytes.toString('base64') }
    : { type: 'text', text: bytes.toString() };
}

/** How many parts are kept, and how large they are together. */
export function storedParts(folder: string): { count: number; bytes: number } {
  const kept = partsIn(folder);
  return { count: kept.length, bytes: kept.reduce((sum, { size }) => sum + size, 0) };
}

/** Removes the parts that no session of any project refers to, and what a crash left half written. */
export function clean(
  folder: string,
  store: Pick<Store, 'listAll'>,
  now = Date.now(),
): { removed: number; bytes: number } {
  const used = new Set<string>();
  for (const { file } of store.listAll()) {
    for (const line of linesOf(file)) {
      for (const [, sha256 = ''] of line.matchAll(/"sha256":"([0-9a-f]{64})"/g)) used.add(sha256);
    }
  }
  const unused = partsIn(folder).filter(({ name, mtimeMs }) => !used.has(name) && now - mtimeMs > youngMs);
  for (const { name } of unused) rmSync(join(folder, name), { force: true });
  return { removed: unused.length, bytes: unused.reduce((sum, { size }) => sum + size, 0) };
}

function partsIn(folder: string): { name: string; size: number; mtimeMs: number }[] {
  let names: string[];
  try {
    names = readdirSync(folder);
  } catch {
    return []; // Nothing was ever attached.
  }
  return names.flatMap((name) => {
    if (!isHash(name.slice(0, 64))) return [];
    const stats = lstatSync(join(folder, name), { throwIfNoEntry: false });
    return stats?.isFile() ? [{ name, size: stats.size, mtimeMs: stats.mtimeMs }] : [];
  });
}

function read(path: string): Buffer | undefined {
  try {
    return lstatSync(path).isFile() ? readFileSync(path) : undefined;
  } catch {
    return undefined; // Removed since.
  }
}

const hashOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
