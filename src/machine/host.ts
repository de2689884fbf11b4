import type { Stats } from 'node:fs';
import { open, readdir, realpath, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, dirname, posix, win32 } from 'node:path';
import which from 'which';
import type { Platform } from '../core/discoverer.ts';
import { permissionsIn, thisPlatform } from '../store/own-files.ts';

export interface FileFacts {
  readonly isFile: boolean;
  readonly isFolder: boolean;
  /** Permission bits, as in stat(2); 0 on Windows, where they mean nothing. */
  readonly mode: number;
  readonly size: number;
  readonly mtimeMs: number;
}

/** The computer as discovery sees it; tests replace it with a recorded one. */
export interface Host {
  readonly platform: Platform;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  /** The names in a folder; empty when it cannot be read. */
  list(folder: string): Promise<readonly string[]>;
  /**
   * Facts about the file or folder that a path leads to, through symbolic links; undefined when it does not
   * exist.
   */
  stat(path: string): Promise<FileFacts | undefined>;
  /** The path without symbolic links; undefined when it does not exist. */
  realPath(path: string): Promise<string | undefined>;
  /** The first `bytes` bytes of a file as Latin-1 text; undefined when it cannot be read. */
  head(path: string, bytes: number): Promise<string | undefined>;
  /**
   * The executable files of a name in these folders, in the order of the folders; on Windows with these
   * endings.
   */
  which(name: string, folders: readonly string[], endings: readonly string[]): Promise<readonly string[]>;
}

/** The path rules of a host's platform, which may differ from the one we run on. */
export const pathsOf = (host: Pick<Host, 'platform'>) => (host.platform === 'win32' ? win32 : posix);

/** The value of an environment variable; on Windows the case of its name (`Path`) does not matter. */
export function variable(host: Pick<Host, 'env' | 'platform'>, name: string): string | undefined {
  const exact = host.env[name];
  if (exact !== undefined || host.platform !== 'win32') return exact;
  // process.env answers to any case by itself; a recorded or copied environment is a plain object.
  const upper = name.toUpperCase();
  return Object.entries(host.env).find(([key]) => key.toUpperCase() === upper)?.[1];
}

/** The computer that toolcrib runs on. */
export function thisHost(): Host {
  return {
    platform: thisPlatform(),
    env: process.env,
    home: homedir(),
    list: (folder) => readdir(folder).catch(() => []),
    stat: (path) =>
      stat(path).then(
        (stats) => factsOf(stats, thisPlatform()),
        () => undefined,
      ),
    realPath: (path) => realpath(path).catch(() => undefined),
    head,
    which: startable,
  };
}

/** Converts Node's stats of a file to facts; the recorded hosts of tests use it as well. */
export const factsOf = (
  stats: Pick<Stats, 'isFile' | 'isDirectory' | 'mode' | 'size' | 'mtimeMs'>,
  platform: Platform,
): FileFacts => ({
  isFile: stats.isFile(),
  isFolder: stats.isDirectory(),
  mode: permissionsIn(stats.mode, platform),
  size: stats.size,
  mtimeMs: stats.mtimeMs,
});

async function head(path: string, bytes: number): Promise<string | undefined> {
  const file = await open(path).catch(() => undefined);
  try {
    const read = await file?.read(Buffer.alloc(bytes), 0, bytes, 0);
    return read?.buffer.toString('latin1', 0, read.bytesRead);
  } catch {
    // A folder or an unreadable file counts as missing.
    return undefined;
  } finally {
    await file?.close();
  }
}

async function startable(name: string, folders: readonly string[], endings: readonly string[]) {
  // The package `which` would replace an empty path by that of the process.
  if (folders.length === 0) return [];
  const path = folders.join(delimiter);
  const files = which.sync(name, { path, pathExt: endings.join(delimiter), all: true, nothrow: true });
  // On Windows the package also searches the working directory.
  return [...new Set(files)].filter((file) => folders.includes(dirname(file)));
}
