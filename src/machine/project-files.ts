import { lstat, readdir } from 'node:fs/promises';
import type { Dirent, Stats } from 'node:fs';
import type { ProjectFiles } from '../core/discoverer.ts';
import { ToolcribError } from '../core/errors.ts';
import { readPlain } from '../store/own-files.ts';

/** A file that a person or a program wrote to configure something is not larger. */
const mostBytes = 1024 * 1024;

/** Looks at what lies on the disk, and follows no link at the end of a path. */
export const look: ProjectFiles = {
  read: async (path) => readPlain(path, ({ size }) => size <= mostBytes)?.toString(),
  async kind(path) {
    const facts = await lstat(path).catch(() => undefined);
    return facts && kindOf(facts);
  },
  async list(folder) {
    const entries = await readdir(folder, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return [];
      // What cannot be listed can be opened all the same, by who knows the names.
      throw new ToolcribError('PATH_DENIED', `${folder}: cannot be listed (${error.code}).`);
    });
    return entries.map((entry) => ({ name: entry.name, kind: kindOf(entry) }));
  },
};

function kindOf(found: Stats | Dirent) {
  if (found.isFile()) return 'file';
  if (found.isDirectory()) return 'folder';
  return found.isSymbolicLink() ? 'link' : 'other';
}
