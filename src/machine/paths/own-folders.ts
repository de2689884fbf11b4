import { existsSync, realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, dirname, isAbsolute, join, relative, sep } from 'node:path';
import type { Platform } from '../../core/discoverer.ts';
import { cacheFolder, stateFolder } from '../folders.ts';
import { isInside } from './inside.ts';
import { variable } from '../variables.ts';

type Env = Readonly<Record<string, string | undefined>>;

const variables = [
  'XDG_CONFIG_HOME',
  'XDG_CACHE_HOME',
  'XDG_STATE_HOME',
  'XDG_DATA_HOME',
  'APPDATA',
  'LOCALAPPDATA',
];

/**
 * Where toolcrib keeps what is its own, whether that exists or not: where variables say so, and where it is without
 * them, as another server may have been started. Real paths.
 */
export function ownFolders(
  platform: Platform = thisPlatform(),
  env: Env = process.env,
  home: string = homedir(),
): string[] {
  const told = variables.flatMap((name) => {
    const folder = variable({ env, platform }, name);
    return folder && isAbsolute(folder) ? [join(folder, 'toolcrib')] : [];
  });
  const usual = [
    cacheFolder(platform, {}, home),
    stateFolder(platform, {}, home),
    join(home, '.config', 'toolcrib'),
  ];
  const folders = [...told, ...usual].filter((folder) => folder !== undefined);
  return [...new Set(folders.flatMap(realPlaces))];
}

/** A link in the place of a folder is as much its own as where that leads. */
function realPlaces(folder: string): string[] {
  const place = join(realPath(dirname(folder)), basename(folder));
  const real = realPath(place);
  return real === place ? [place] : [place, real];
}

/** Which of them lie below a real path: relative to it, with `/` between names. */
export function ownFoldersBelow(folder: string): ReadonlySet<string> {
  const below = ownFolders().filter((own) => own !== folder && isInside(own, folder));
  return new Set(below.map((own) => relative(folder, own).replaceAll(sep, '/')));
}

function thisPlatform(): Platform {
  return process.platform === 'win32' || process.platform === 'darwin' ? process.platform : 'linux';
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
