import { createHash } from 'node:crypto';
import { lstatSync, readFileSync, readdirSync, rmSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { readSessionText, writePrivateFile } from '../files/private-file.ts';
import type { Part } from '../message.ts';
import type { StoredPart } from './entry.ts';
import type { SessionInfo } from './store.ts';

/** Another process may have kept a part and not yet said so in its session: what is younger is never removed. */
const youngMs = 60 * 60 * 1000;

/** Keeps bytes under their hash, once however often they are attached. Throws CONFIG_INVALID for a folder not ours. */
export function keepPart(
  folder: string,
  { bytes, mimeType, name }: { bytes: Buffer; mimeType: string; name: string },
): StoredPart {
  const sha256 = hashOf(bytes);
  const path = join(folder, sha256);
  if (lstatSync(path, { throwIfNoEntry: false })?.isFile()) utimesSync(path, new Date(), new Date());
  else writePrivateFile(path, bytes);
  return { type: 'stored', sha256, mimeType, name };
}

/** The part as a model is sent it; a line of text that says so when it is gone or damaged. Never throws. */
export function loadPart(folder: string, { sha256, mimeType, name }: StoredPart): Part {
  const bytes = read(folder, sha256);
  if (!bytes) return { type: 'text', text: `[attachment ${name} is no longer there]` };
  return mimeType.startsWith('image/')
    ? { type: 'image', mimeType, data: bytes.toString('base64') }
    : { type: 'text', text: bytes.toString() };
}

function read(folder: string, sha256: string): Buffer | undefined {
  try {
    // It comes from a file: no other path than a hash may be made of it.
    const bytes = /^[0-9a-f]{64}$/.test(sha256) ? readFileSync(join(folder, sha256)) : undefined;
    return bytes && hashOf(bytes) === sha256 ? bytes : undefined;
  } catch {
    return undefined; // Removed since.
  }
}

/** Removes the parts that none of the sessions refers to, and what a crash left half written; returns how many. */
export function clean(folder: string, sessions: readonly SessionInfo[]): { removed: number; bytes: number } {
  const texts = sessions.flatMap(({ file }) => [...readSessionText(file).matchAll(/"sha256":"(\w{64})"/g)]);
  const used = new Set(texts.map(([, sha256]) => sha256));
  const unused = (lstatSync(folder, { throwIfNoEntry: false }) ? readdirSync(folder) : [])
    // A crash leaves `.<hash>.<something>.tmp`.
    .filter((name) => /^\.?[0-9a-f]{64}/.test(name) && !used.has(name))
    .map((name) => ({ path: join(folder, name), facts: lstatSync(join(folder, name)) }))
    .filter(({ facts }) => facts.isFile() && Date.now() - facts.mtimeMs > youngMs);
  for (const { path } of unused) rmSync(path, { force: true });
  return { removed: unused.length, bytes: unused.reduce((sum, { facts }) => sum + facts.size, 0) };
}

const hashOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
