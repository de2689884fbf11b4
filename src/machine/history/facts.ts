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

/**
 * Whether what is there is what was there, as far as both have been looked at. A folder that holds too much for that is
 * never known again: anything could have come into it.
 */
export function sameFacts(a: Facts | undefined, b: Facts | undefined): boolean {
  if (!a || !b) return a === b;
  if (isTooMuch(a)) return false;
  return a.kind === b.kind && a.size === b.size && a.hash === b.hash;
}

/** Whether it is a folder that holds more than is counted. */
export const isTooMuch = ({ kind, hash }: Facts): boolean => kind === 'folder' && hash === undefined;

async function hashOf(path: string): Promise<string> {
  const handle = await open(
    path,
    constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0),
  );
  const hash = createHash('sha256');
  for await (const chunk of handle.createReadStream({ highWaterMark: 1024 * 1024 }))
    hash.update(chunk as Buffer);
  return hash.digest('hex');
}

/** Counts without following links, one folder at a time and never all names at once in memory. */
async function folderFacts(top: string): Promise<Facts> {
  const shape = createHash('sha256');
  const breathe = createBreath();
  const waiting = [''];
  let size = 0;
  let entries = 0;
  for (let steps = waiting.pop(); steps !== undefined; steps = waiting.pop()) {
    for (const name of await namesIn(top + steps)) {
      await breathe();
      if (++entries > mostEntries) return { kind: 'folder', size };
      const path = `${steps}/${name}`;
      const found = lstatSync(top + path, { throwIfNoEntry: false });
      if (!found) continue;
      if (found.isDirectory()) waiting.push(path);
      else size += found.size;
      shape.update(`${path}\0${found.isDirectory() ? 'folder' : found.size}\0`);
    }
  }
  return { kind: 'folder', size, entries, hash: shape.digest('hex') };
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).sort();
  } catch {
    // Closed to this user: it goes with the folder it is in, uncounted.
    return [];
  }
}
