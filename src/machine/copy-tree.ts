import { constants, type Stats } from 'node:fs';
import {
  chmod,
  copyFile,
  lchown,
  lstat,
  lutimes,
  mkdir,
  readdir,
  readlink,
  symlink,
  utimes,
} from 'node:fs/promises';
import { join } from 'node:path';
import { ToolcribError } from '../core/errors.ts';
import { shownPath } from './shown-path.ts';

/**
 * Copies a file, link or folder with its mode, times and, where the system lets us, owner. Links are copied as links.
 * Throws PATH_EXISTS what the system does for `to`, and WRITE_FAILED for FIFOs, sockets and devices, which cannot be copied.
 */
export async function copyTree(from: string, to: string, shown: string): Promise<void> {
  const found = await lstat(from);
  if (found.isSymbolicLink()) {
    await symlink(await readlink(from), to);
    await keepOwner(to, found);
    return lutimes(to, found.atime, found.mtime);
  }
  if (found.isFile()) await copyFile(from, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
  else if (found.isDirectory()) {
    await mkdir(to, { mode: 0o700 });
    for (const name of await readdir(from)) await copyTree(join(from, name), join(to, name), shown);
  } else
    throw new ToolcribError(
      'WRITE_FAILED',
      `${shownPath(shown)}: is or has in it a FIFO, socket or device, which cannot be copied to another file system.`,
    );
  await keepOwner(to, found);
  await chmod(to, found.mode & 0o7777);
  // Last: what is put into a folder changes its times.
  return utimes(to, found.atime, found.mtime);
}

async function keepOwner(path: string, { uid, gid }: Stats): Promise<void> {
  // Only root may give files away; everybody else keeps what they copy.
  await lchown(path, uid, gid).catch(() => {});
}
