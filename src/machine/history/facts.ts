import { createHash } from 'node:crypto';
import { constants, lstatSync, readlinkSync } from 'node:fs';
import { open, readdir } from 'node:fs/promises';
import { createBreath } from '../paths/breath.ts';
import type { Facts } from './entry.ts';

/** Hashing this much takes some 50 ms. */
const mostHashed = 64 * 1024 * 1024;
/** Looking at this many takes about a second. */
const mostEntries = 200_000;

/** What is at a path; a link is not followed. Undefined when there is nothing; throws what else the system says. */
export async function factsAt(path: string): Promise<Facts | undefined> {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (!found) return undefined;
  if (found.isDirectory()) return folderFacts(path);
  const { size } = found;
  if (found.isSymbolicLink())
    return { kind: 'link', size, hash: createHash('sha256').update(readlinkSync(path)).digest('hex') };
  if (!found.isFile()) return { kind: 'other', size };
  return { kind: 'file', size, ...(size <= mostHashed && { hash: await hashOf(path) }) };
}

/** Whether what is there is what was there, as far as both have been looked at; a folder by what is in it in all. */
export function sameFacts(a: Facts | undefined, b: Facts | undefined): boolean {
  if (!a || !b) return a === b;
  const isCounted = a.kind !== 'folder' || a.entries !== undefined;
  return isCounted && a.kind === b.kind && a.size === b.size && a.hash === b.hash && a.entries === b.entries;
}

async function hashOf(path: string): Promise<string> {
  const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
  const handle = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  const hash = createHash('sha256');
  for await (const chunk of handle.createReadStream({ highWaterMark: 1024 * 1024 }))
    hash.update(chunk as Buffer);
  return hash.digest('hex');
}

/** Counts without following links, one folder at a time and never all names at once in memory. */
async function folderFacts(top: string): Promise<Facts> {
  const breathe = createBreath();
  const waiting = [top];
  let [size, entries] = [0, 0];
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    // One that is closed to this user goes with the folder it is in, uncounted.
    for (const name of await readdir(folder).catch(() => [])) {
      await breathe();
      if (++entries > mostEntries) return { kind: 'folder', size };
      const path = `${folder}/${name}`;
      const found = lstatSync(path, { throwIfNoEntry: false });
      if (found?.isDirectory()) waiting.push(path);
      else size += found?.size ?? 0;
    }
  }
  return { kind: 'folder', size, entries };
}
