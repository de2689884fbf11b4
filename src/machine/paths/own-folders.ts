import { existsSync, realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, dirname, join, relative, sep } from 'node:path';
import { ownFolders, thisPlatform } from '../folders.ts';
import { isInside } from './inside.ts';
import { foldPath } from './protected-paths.ts';

/** The real paths of the folders that toolcrib keeps its own in; of a link in the place of one both. */
export function ownRealFolders(): string[] {
  const folders = ownFolders(thisPlatform(), process.env, homedir()).flatMap((folder) => {
    const place = join(realPath(dirname(folder)), basename(folder));
    return [place, realPath(place)];
  });
  return [...new Set(folders)];
}

/** Whether a real path is toolcrib's own, by another spelling as well. Asked anew: links may have been made. */
export function isOwn(path: string, own: readonly string[] = ownRealFolders()): boolean {
  const folded = foldPath(path);
  return own.some((folder) => isInside(folded, foldPath(folder)));
}

/** Which of them lie below a real path: relative to it, with `/` between names. */
export function ownFoldersBelow(folder: string): ReadonlySet<string> {
  const below = ownRealFolders().filter((own) => own !== folder && isInside(own, folder));
  return new Set(below.map((own) => relative(folder, own).replaceAll(sep, '/')));
}

/**
 * Also of what does not exist yet, from the deepest folder that does. Asked without another thread: they are folders of
 * this user, and it is asked with every change and every search.
 */
export function realPath(path: string): string {
  try {
    // Errors take longer than asking first.
    if (existsSync(path)) return realpathSync.native(path);
  } catch {
    // It has gone since, or may not be looked at.
  }
  return path === dirname(path) ? path : join(realPath(dirname(path)), basename(path));
}
