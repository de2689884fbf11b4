import { constants, existsSync, lstatSync, statSync } from 'node:fs';
import { open, realpath } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import type { KnownNames } from '../machine/config/check-config.ts';
import { ToolcribError } from '../core/errors.ts';
import type { Config } from '../core/settings.ts';
import { readSettings } from '../machine/config/project-config.ts';
import { displayPath } from '../machine/paths/display-path.ts';
import { thisHost, type Host } from '../machine/host.ts';
import { ownFolder } from '../store/own-files.ts';
import { UsageError } from './usage.ts';

/** The largest settings file, far more than anybody writes by hand. */
const mostBytes = 1024 * 1024;

/** The path of the operator's settings, in the folder that the platform has for configuration. */
export const configFile = (
  { platform, env, home }: Pick<Host, 'platform' | 'env' | 'home'> = thisHost(),
): string => join(ownFolder('config', platform, env, home) ?? home, 'config.json');

/**
 * Reads the operator's settings; empty when there is no file. A file that is invalid, or that somebody else
 * could have written, stops the server, because a fallback could be more open than what was written. Throws
 * UsageError with file and line.
 */
export async function readConfig(
  file = configFile(),
  { known, home = homedir() }: { known?: () => Promise<KnownNames>; home?: string } = {},
): Promise<Config> {
  const refusal = (why: string) => new UsageError(`${displayPath(file)}: ${why}`);
  const bytes = await operatorFile(file, refusal);
  if (!bytes) return {};
  const absolute = (path: string) => {
    const expanded = /^~(?:[/\\]|$)/.test(path) ? join(home, path.slice(2)) : path;
    if (isAbsolute(expanded)) return expanded;
    throw refusal(`${displayPath(path)} is not absolute.`);
  };
  try {
    const config = await readSettings(bytes, { file, whose: 'operator', known: await known?.() });
    const { roots, path, programs = {} } = config;
    const folders: Record<string, Config> = {};
    for (const [written, settings] of Object.entries(config.folders ?? {})) {
      // Folders count by their real paths, as roots do; a missing one stays as it is written, and is
      // reported elsewhere.
      const path = resolve(absolute(written));
      const folder = await realpath(path).catch(() => path);
      if (folders[folder]) throw refusal(`folders: ${displayPath(written)} is there twice, by two names.`);
      folders[folder] = settings;
    }
    return {
      ...config,
      ...(roots && { roots: roots.map(absolute) }),
      ...(path && { path: path.map(absolute) }),
      programs: Object.fromEntries(Object.entries(programs).map(([id, file]) => [id, absolute(file)])),
      folders,
    };
  } catch (error) {
    throw error instanceof ToolcribError ? new UsageError(error.message) : error;
  }
}

/**
 * Reads the file; undefined when there is none. Whoever can write to it decides what a model may do, and
 * whoever can write to its folder can remove it.
 */
async function operatorFile(file: string, refusal: (why: string) => Error): Promise<Buffer | undefined> {
  // Without this flag, opening a FIFO would block.
  const flags = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);
  const opened = await open(file, flags).catch(({ code }: NodeJS.ErrnoException) => {
    if (code !== 'ENOENT' && code !== 'ENOTDIR') throw refusal(`it cannot be read (${code}).`);
    const isLink = (path: string) => lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink();
    const dangling = [file, dirname(file)].find((path) => isLink(path) && !existsSync(path));
    if (dangling) throw refusal(`${displayPath(dangling)} is a link to something that is not there.`);
  });
  if (!opened) return undefined;
  try {
    const facts = await opened.stat();
    if (!facts.isFile()) throw refusal('it is no regular file.');
    if (facts.size > mostBytes) throw refusal('it is larger than 1 MB.');
    const user = process.geteuid?.();
    if (user !== undefined) {
      if ((facts.mode & 0o002) !== 0) throw refusal('everybody can write to it. chmod o-w makes it usable.');
      // The system's administrator may have put it there.
      if (facts.uid !== user && facts.uid !== 0) throw refusal('it belongs to another user.');
      if ((statSync(dirname(file)).mode & 0o1002) === 0o002)
        throw refusal('everybody can write to the folder that it is in. chmod o-w makes it usable.');
    }
    return await opened.readFile();
  } finally {
    await opened.close();
  }
}
