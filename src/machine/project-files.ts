import { lstat, readdir } from 'node:fs/promises';
import type { Dirent, Stats } from 'node:fs';
import type { ProjectFiles } from '../core/discoverer.ts';
import { ToolcribError } from '../core/errors.ts';
import { readPlain } from '../store/own-files.ts';

/** The largest configuration file that is read. */
const mostBytes = 1024 * 1024;

/** The files of a project on the disk. A symbolic link at the end of a path is not followed. */
export const look: ProjectFiles = {
  read: async (path) => readPlain(path, ({ size }) => size <= mostBytes)?.toString(),
  async kind(path) {
    const facts = await lstat(path).catch(() => undefined);
    return facts && kindOf(facts);
  },
  async list(folder) {
    const entries = await readdir(folder, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return [];
      // A folder that cannot be listed is not empty: its files can still be opened by name.
      throw new ToolcribError('PATH_DENIED', `${folder}: cannot be listed (${error.code}).`);
    });
    return entries.map((entry) => ({ name: entry.name, kind: kindOf(entry) }));
  },
};

function kindOf(entry: Stats | Dirent) {
  if (entry.isFile()) return 'file';
  if (entry.isDirectory()) return 'folder';
  return entry.isSymbolicLink() ? 'link' : 'other';
}
