import { lstat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/** What git keeps in its folder; other names in it are files of the people who put a work tree there. */
const gitNames: ReadonlySet<string> = new Set([
  'head',
  'config',
  'config.worktree',
  'commondir',
  'gitdir',
  'hooks',
  'info',
  'objects',
  'refs',
  'packed-refs',
  'modules',
  'worktrees',
  'index',
  'logs',
  'shallow',
  'common',
  'fsmonitor--daemon',
]);

/**
 * Whether a real path is part of what git takes for a repository without being told (a bare one, or the folder of one
 * kept elsewhere), or would be once something is there.
 */
export async function inGitFolder(path: string): Promise<boolean> {
  for (let here = path; here !== dirname(here); here = dirname(here)) {
    const name = basename(here).toLowerCase();
    if (gitNames.has(name) && (await isGitFolder(dirname(here), name))) return true;
  }
  return false;
}

/**
 * By the three names that git itself looks for, or the two of a linked work tree (is_git_directory in git's setup.c);
 * what is in HEAD is not read. `also` is a name that counts as being there.
 */
async function isGitFolder(folder: string, also: string): Promise<boolean> {
  const has = async (name: string): Promise<boolean> =>
    name.toLowerCase() === also || (await lstat(join(folder, name)).catch(() => undefined)) !== undefined;
  if (!(await has('HEAD'))) return false;
  return (await has('commondir')) || ((await has('objects')) && (await has('refs')));
}

/** The same for a folder of which the names are known. */
export function looksLikeGitFolder(names: ReadonlySet<string>): boolean {
  return names.has('HEAD') && (names.has('commondir') || (names.has('objects') && names.has('refs')));
}
