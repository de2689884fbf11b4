import type { Dirent, Stats } from 'node:fs';
import { lstat, readdir, readFile } from 'node:fs/promises';
import type { Look } from '../../src/core/discoverer.ts';

const kindOf = (facts: Dirent | Stats) => {
  if (facts.isSymbolicLink()) return 'link';
  if (facts.isDirectory()) return 'folder';
  return facts.isFile() ? 'file' : 'other';
};

/** A look at this machine, as it is. */
export const look: Look = {
  async read(path) {
    const facts = await lstat(path).catch(() => undefined);
    return facts?.isFile() ? readFile(path, 'utf8') : undefined;
  },
  async kind(path) {
    const facts = await lstat(path).catch(() => undefined);
    return facts && kindOf(facts);
  },
  async list(folder) {
    const facts = await lstat(folder).catch(() => undefined);
    if (!facts?.isDirectory()) return [];
    const entries = await readdir(folder, { withFileTypes: true });
    return entries.map((entry) => ({ name: entry.name, kind: kindOf(entry) }));
  },
};
