import { lstatSync } from 'node:fs';
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

/** What comes of changing something there, as in `ProtectedNames`. */
export const gitFolderEffect = 'git takes its folder for a repository, and runs what that names';

/**
 * Whether a real path is part of what git takes for a repository without being told (a bare one, or the folder of one
 * kept elsewhere), or would be once something is there. Asks without waiting, so that nothing comes between it and what
 * is done next; of nearly all paths it need not ask.
 */
export function inGitFolder(path: string): boolean {
  for (let here = path; here !== dirname(here); here = dirname(here)) {
    const name = basename(here).toLowerCase();
    if (gitNames.has(name) && isGitFolder(dirname(here), name)) return true;
  }
  return false;
}

/**
 * By the three names that git itself looks for, or the two of a linked work tree (is_git_directory in git's setup.c);
 * what is in HEAD is not read. `also` is a name that counts as being there.
 */
function isGitFolder(folder: string, also: string): boolean {
  const has = (name: string): boolean => name.toLowerCase() === also || isThere(join(folder, name));
  return has('HEAD') && (has('commondir') || (has('objects') && has('refs')));
}

function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    // Nothing that this user could reach; neither could git.
    return false;
  }
}

/** The same for a folder of which the names are known. */
export function looksLikeGitFolder(names: ReadonlySet<string>): boolean {
  return names.has('HEAD') && (names.has('commondir') || (names.has('objects') && names.has('refs')));
}
