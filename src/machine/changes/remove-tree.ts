import { chmodSync, lstatSync, rmdirSync, unlinkSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { createBreath } from '../paths/breath.ts';
import { below, holdFolder } from '../paths/held-folder.ts';
import { codeOf } from '../paths/real-path.ts';

/**
 * Removes a file, link or folder, also one that is read-only; nothing there is no failure. Unlike rm of Node it cannot
 * be led elsewhere by a folder that becomes a link meanwhile: such a thing is left, and the failure thrown.
 */
export async function removeTree(path: string): Promise<void> {
  // Windows has no held folders, and what is read-only there, or open for a moment, needs more than this.
  if (process.platform === 'win32') await rm(path, { recursive: true, force: true, maxRetries: 3 });
  else await removeAny(Buffer.from(path), createBreath());
}

async function removeAny(path: Buffer, breathe: () => Promise<void> | undefined): Promise<void> {
  await breathe();
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (!found) return;
  if (!found.isDirectory()) return unlessGone(() => unlinkSync(path));
  const folder = holdFolder(path);
  try {
    if ((found.mode & 0o700) !== 0o700) chmodSync(folder.path, 0o700);
    for (const name of await readdir(folder.path, { encoding: 'buffer' }))
      await removeAny(below(folder.path, name), breathe);
  } finally {
    folder.close();
  }
  unlessGone(() => rmdirSync(path));
}

function unlessGone(remove: () => void): void {
  try {
    remove();
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
  }
}
