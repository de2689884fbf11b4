import { constants } from 'node:fs';
import { lstat, mkdir, open, type FileHandle } from 'node:fs/promises';
import type { ByteName } from './changed-files.ts';
import type { OpenScopes } from './open-scopes.ts';
import { codeOf } from '../paths/real-path.ts';

/** A folder as it is used in system calls. */
export type Path = Buffer;

/** Why a path was left as it is. */
export class Left extends Error {}

/**
 * Calls with the open folder that a name is in; every step on the way must be a real folder. Not where one is missing,
 * unless they are to be made. Throws Left, and what the system says.
 */
export async function inParent(
  name: ByteName,
  { scopeOf, makeMissing }: Pick<OpenScopes, 'scopeOf'> & { readonly makeMissing: boolean },
  act: (parent: Path, name: Buffer) => Promise<void>,
): Promise<void> {
  const scope = scopeOf(name);
  if (!scope) throw new Left('it lies outside the folders that are open');
  const steps = scope.rest.split('/').map((step) => Buffer.from(step, 'latin1'));
  const last = steps.pop() ?? Buffer.alloc(0);
  let here: { path: Path; handle?: FileHandle } = { path: Buffer.from(scope.path) };
  try {
    for (const step of steps) {
      const next = await enter(here.path, step, makeMissing);
      await here.handle?.close();
      // Gone with all that was in it.
      if (!next) return;
      here = next;
    }
    await act(here.path, last);
  } finally {
    await here.handle?.close();
  }
}

async function enter(
  folder: Path,
  step: Buffer,
  makeMissing: boolean,
): Promise<{ path: Path; handle?: FileHandle } | undefined> {
  const path = below(folder, step);
  if (makeMissing) {
    await mkdir(path).catch((error: unknown) => {
      if (codeOf(error) !== 'EEXIST') throw error;
    });
  }
  try {
    if (process.platform === 'linux') {
      // Held open, it stays the same folder whatever is put in its place.
      const handle = await open(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
      return { path: Buffer.from(`/proc/self/fd/${handle.fd}`), handle };
    }
    if (!(await lstat(path)).isDirectory()) throw new Left('a link or a file is in the place of its folder');
    return { path };
  } catch (error) {
    if (error instanceof Left) throw error;
    const code = codeOf(error);
    if (code === 'ENOENT' && !makeMissing) return undefined;
    if (code === 'ENOTDIR' || code === 'ELOOP')
      throw new Left('a link or a file is in the place of its folder');
    throw error;
  }
}

export const below = (folder: Path, name: Buffer): Path => Buffer.concat([folder, Buffer.from('/'), name]);
