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

/** Far more than anybody writes by hand. */
const mostBytes = 1024 * 1024;

/** Where the operator's settings are kept: in the folder that the platform has for that. */
export const configFile = (
  { platform, env, home }: Pick<Host, 'platform' | 'env' | 'home'> = thisHost(),
): string => join(ownFolder('config', platform, env, home) ?? home, 'config.json');

/**
 * The operator's settings; empty when there is no file. One that cannot be understood, or that somebody else
 * could have written, stops the server: falling back could be more open than what was written. Throws
 * UsageError with file and line.
 */
export async function readConfig(
  file = configFile(),
  { known, home = homedir() }: { known?: () => Promise<KnownNames>; home?: string } = {},
): Promise<Config> {
  const refusal = (why: string) => new UsageError(`${displayPath(file)}: ${why}`);
  const bytes = await operatorFile(file, refusal);
  if (!bytes) return {};
  const whole = (path: string) => {
    const named = /^~(?:[/\\]|$)/.test(path) ? join(home, path.slice(2)) : path;
    if (isAbsolute(named)) return named;
    throw refusal(`${displayPath(path)} is not absolute.`);
  };
  try {
    const config = await readSettings(bytes, { file, whose: 'operator', known: await known?.() });
    const { roots, path, programs = {} } = config;
    const folders: Record<string, Config> = {};
    for (const [given, settings] of Object.entries(config.folders ?? {})) {
      // By their real paths, as roots are; what is not there is kept as it is written, and said elsewhere.
      const folder = await realpath(resolve(whole(given))).catch(() => resolve(whole(given)));
      if (folders[folder]) throw refusal(`folders: ${displayPath(given)} is there twice, by two names.`);
      folders[folder] = settings;
    }
    return {
      ...config,
      ...(roots && { roots: roots.map(whole) }),
      ...(path && { path: path.map(whole) }),
      programs: Object.fromEntries(Object.entries(programs).map(([id, at]) => [id, whole(at)])),
      folders,
    };
  } catch (error) {
    throw error instanceof ToolcribError ? new UsageError(error.message) : error;
  }
}

/**
 * What is in the file; undefined when nothing is there. Whoever can write to it decides what a model may do;
 * whoever can write to its folder can take it away.
 */
async function operatorFile(file: string, refusal: (why: string) => Error): Promise<Buffer | undefined> {
  // A FIFO would otherwise be waited for.
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
