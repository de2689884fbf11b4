import { homedir } from 'node:os';
import { basename, dirname, join, relative, sep } from 'node:path';
import { ownFolders, thisPlatform } from '../../own-files/own-files.ts';
import { isInside } from './inside.ts';
import { foldPath } from './protected-paths.ts';
import { realPath } from './real-path.ts';

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
