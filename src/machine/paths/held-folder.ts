import { closeSync, constants, fstatSync, lstatSync, openSync, type Stats } from 'node:fs';

/** A folder that stays the same one whatever is put in its place. */
export interface HeldFolder {
  /** For system calls: what is in it is below this path. */
  readonly path: Buffer;
  readonly stat: Stats;
  close(): void;
}

/**
 * Opens a folder that must be a real one: throws ENOTDIR for a link, and what else the system says. Only Linux lets
 * something be named by the folder that is open; elsewhere a moment is left between a look and a use.
 */
export function holdFolder(path: Buffer): HeldFolder {
  if (process.platform !== 'linux') {
    const stat = lstatSync(path);
    if (!stat.isDirectory()) throw Object.assign(new Error('no folder'), { code: 'ENOTDIR' });
    return { path, stat, close: () => {} };
  }
  const fd = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  return { path: Buffer.from(`/proc/self/fd/${fd}`), stat: fstatSync(fd), close: () => closeSync(fd) };
}

/** Names are bytes: not every file system keeps them in UTF-8. */
export const below = (folder: Buffer, name: Buffer): Buffer =>
  Buffer.concat([folder, Buffer.from('/'), name]);
