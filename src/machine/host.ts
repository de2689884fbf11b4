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

/** The computer, as far as finding programs needs it: replaced in tests by a recorded one. */
export interface Host {
  readonly platform: Platform;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  /** Names in a folder; empty when it cannot be read. */
  list(folder: string): Promise<readonly string[]>;
  /** Facts about what a path leads to, symbolic links followed; undefined when there is nothing. */
  stat(path: string): Promise<FileFacts | undefined>;
  /** The path without symbolic links; undefined when there is nothing. */
  realPath(path: string): Promise<string | undefined>;
  /** The first `bytes` bytes of a file as Latin-1 text; undefined when it cannot be read. */
  head(path: string, bytes: number): Promise<string | undefined>;
  /** Files of these folders, the first one's first, that we may start by a name; on Windows with these endings. */
  which(name: string, folders: readonly string[], endings: readonly string[]): Promise<readonly string[]>;
}

/** Path rules of a host's platform, which need not be the one we run on. */
export const pathsOf = (host: Pick<Host, 'platform'>) => (host.platform === 'win32' ? win32 : posix);

/** The value of an environment variable; on Windows its name counts the same in any case (`Path`). */
export function variable(host: Pick<Host, 'env' | 'platform'>, name: string): string | undefined {
  const exact = host.env[name];
  if (exact !== undefined || host.platform !== 'win32') return exact;
  // process.env answers to any case by itself; a recorded or copied environment is a plain object.
  const upper = name.toUpperCase();
  return Object.entries(host.env).find(([key]) => key.toUpperCase() === upper)?.[1];
}

/** This computer. */
export function thisHost(): Host {
  return {
    platform: thisPlatform(),
    env: process.env,
    home: homedir(),
    list: (folder) => readdir(folder).catch(() => []),
    stat: (path) =>
      stat(path).then(
        (found) => factsOf(found, thisPlatform()),
        () => undefined,
      ),
    realPath: (path) => realpath(path).catch(() => undefined),
    head,
    which: startable,
  };
}

/** The facts in what Node says of a file; a recorded computer's tests go through it as well. */
export const factsOf = (
  found: Pick<Stats, 'isFile' | 'isDirectory' | 'mode' | 'size' | 'mtimeMs'>,
  platform: Platform,
): FileFacts => ({
  isFile: found.isFile(),
  isFolder: found.isDirectory(),
  mode: permissionsIn(found.mode, platform),
  size: found.size,
  mtimeMs: found.mtimeMs,
});

async function head(path: string, bytes: number): Promise<string | undefined> {
  const file = await open(path).catch(() => undefined);
  try {
    const read = await file?.read(Buffer.alloc(bytes), 0, bytes, 0);
    return read?.buffer.toString('latin1', 0, read.bytesRead);
  } catch {
    // A folder, or a file that cannot be read: the same as none.
    return undefined;
  } finally {
    await file?.close();
  }
}

async function startable(name: string, folders: readonly string[], endings: readonly string[]) {
  // The package takes an empty path for that of the process.
  if (folders.length === 0) return [];
  const path = folders.join(delimiter);
  const found = which.sync(name, { path, pathExt: endings.join(delimiter), all: true, nothrow: true });
  // On Windows it looks into the working directory as well.
  return [...new Set(found)].filter((file) => folders.includes(dirname(file)));
}
