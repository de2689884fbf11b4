import { lstatSync, readlinkSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import { readPlain } from '../folders.ts';
import { createBreath } from '../paths/breath.ts';
import type { Facts } from './entry.ts';
import { mostChangedBytes } from './existing-file.ts';
import { sha256 } from './log.ts';

/** Looking at this many takes about a second. */
const mostEntries = 200_000;

/** What is at a path; a link is not followed. Undefined when there is nothing; throws what else the system says. */
export async function factsAt(path: string): Promise<Facts | undefined> {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (!found) return undefined;
  if (found.isDirectory()) return folderFacts(path);
  const { size } = found;
  if (found.isSymbolicLink())
    return { kind: 'link', size, hash: sha256(readlinkSync(path, { encoding: 'buffer' })) };
  if (!found.isFile()) return { kind: 'other', size };
  const bytes = readPlain(path, () => size <= mostChangedBytes);
  return { kind: 'file', size, ...(bytes && { hash: sha256(bytes) }) };
}

/** Whether what is there is what was there, as far as both have been looked at; a folder by what is in it in all. */
export const sameFacts = (a: Facts | undefined, b: Facts | undefined): boolean =>
  (a?.kind !== 'folder' || a.entries !== undefined) && isDeepStrictEqual(a, b);

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
