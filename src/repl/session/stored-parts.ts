import { createHash } from 'node:crypto';
import { lstatSync, readFileSync, readdirSync, rmSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import type { Part } from '../message.ts';
import { readSessionText, writePrivateFile } from '../files/private-file.ts';
import type { StoredPart } from './entry.ts';
import type { Store } from './store.ts';

/** Another process may have kept a part and not yet said so in its session: what is younger is never removed. */
const youngMs = 60 * 60 * 1000;

/** Keeps bytes under their hash, once however often they are attached. Throws CONFIG_INVALID for a folder not ours. */
export function keepPart(
  folder: string,
  { bytes, mimeType, name }: { bytes: Buffer; mimeType: string; name: string },
): StoredPart {
  const sha256 = hashOf(bytes);
  const path = join(folder, sha256);
  const there = lstatSync(path, { throwIfNoEntry: false });
  if (there?.isFile() && there.size === bytes.length) utimesSync(path, new Date(), new Date());
  else writePrivateFile(path, bytes);
  return { type: 'stored', sha256, mimeType, name };
}

/** The part as a model is sent it; a line of text that says so when it is gone or damaged. Never throws. */
export function loadPart(folder: string, { sha256, mimeType, name }: StoredPart): Part {
  // It comes from a file: no other path than a hash may be made of it.
  const bytes = /^[0-9a-f]{64}$/.test(sha256) ? read(join(folder, sha256)) : undefined;
  if (!bytes || hashOf(bytes) !== sha256)
    return { type: 'text', text: `[attachment ${name} is no longer there]` };
  return mimeType.startsWith('image/')
    ? { type: 'image', mimeType, data: bytes.toString('base64') }
    : { type: 'text', text: bytes.toString() };
}

/** Removes the parts that no session of any project refers to, and what a crash left half written. */
export function clean(folder: string, store: Pick<Store, 'listAll'>): { removed: number; bytes: number } {
  const used = new Set<string>();
  for (const { file } of store.listAll())
    for (const [, sha256 = ''] of readSessionText(file).matchAll(/"sha256":"([0-9a-f]{64})"/g))
      used.add(sha256);
  let [removed, bytes] = [0, 0];
  const there = lstatSync(folder, { throwIfNoEntry: false });
  for (const name of there ? readdirSync(folder) : []) {
    const path = join(folder, name);
    const facts = lstatSync(path, { throwIfNoEntry: false });
    // A crash leaves `.<hash>.<something>.tmp`.
    const isUnused = /^\.?[0-9a-f]{64}/.test(name) && !used.has(name);
    if (!isUnused || !facts?.isFile() || Date.now() - facts.mtimeMs <= youngMs) continue;
    rmSync(path, { force: true });
    removed++;
    bytes += facts.size;
  }
  return { removed, bytes };
}

function read(path: string): Buffer | undefined {
  try {
    return lstatSync(path).isFile() ? readFileSync(path) : undefined;
  } catch {
    return undefined; // Removed since.
  }
}

const hashOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
