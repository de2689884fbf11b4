import { constants, existsSync } from 'node:fs';
import { lstat, open, realpath, stat, type FileHandle } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join, posix, resolve, win32 } from 'node:path';
import type { KnownNames } from '../machine/config/check-config.ts';
import { ToolcribError } from '../core/errors.ts';
import type { Config } from '../core/settings.ts';
import { readSettings } from '../machine/config/settings-file.ts';
import { shownPath } from '../machine/paths/shown-path.ts';
import { variable } from '../machine/host.ts';
import { UsageError } from './usage.ts';

/** Far more than anybody writes by hand. */
const mostBytes = 1024 * 1024;

type Env = Readonly<Record<string, string | undefined>>;

/**
 * Where the operator's settings are kept: in the folder that the platform has for that. On a Mac also in ~/.config,
 * when they are there and nowhere else.
 */
export function configFile(
  env: Env = process.env,
  platform: string = process.platform,
  home: string = homedir(),
): string {
  if (platform === 'win32') {
    const told = variable({ env, platform }, 'APPDATA');
    const base = told && win32.isAbsolute(told) ? told : win32.join(home, 'AppData', 'Roaming');
    return win32.join(base, 'toolcrib', 'config.json');
  }
  const told = env['XDG_CONFIG_HOME'];
  // The XDG rules say that a relative path in the variable is to be ignored.
  if (told && posix.isAbsolute(told)) return posix.join(told, 'toolcrib', 'config.json');
  const usual = posix.join(home, '.config', 'toolcrib', 'config.json');
  if (platform !== 'darwin') return usual;
  const own = posix.join(home, 'Library', 'Application Support', 'toolcrib', 'config.json');
  return existsSync(usual) && !existsSync(own) ? usual : own;
}

/**
 * The operator's settings; empty when there is no file. One that cannot be understood, or that somebody else could have
 * written, stops the server: falling back could be more open than what was written. Throws UsageError with file and
 * line.
 */
export async function readConfig(
  file = configFile(),
  { known, home = homedir() }: { known?: () => Promise<KnownNames>; home?: string } = {},
): Promise<Config> {
  const opened = await openConfig(file);
  if (!opened) return {};
  try {
    await refuseForeign(opened, file);
    const bytes = await opened.readFile();
    const config = await readSettings(bytes, { file, whose: 'operator', known: await known?.() });
    const roots = config.roots?.map((root) => expanded(root, file, home));
    const path = config.path?.map((folder) => expanded(folder, file, home));
    const named = Object.entries(config.programs ?? {});
    const programs = Object.fromEntries(named.map(([id, at]) => [id, expanded(at, file, home)]));
    const folders = await realFolders(config.folders ?? {}, file, home);
    return { ...config, ...(roots && { roots }), ...(path && { path }), programs, folders };
  } catch (error) {
    if (error instanceof ToolcribError) throw new UsageError(error.message);
    throw error;
  } finally {
    await opened.close();
  }
}

/** Undefined when nothing is there; a link to nothing is something. */
async function openConfig(file: string): Promise<FileHandle | undefined> {
  try {
    // A FIFO would otherwise be waited for.
    return await open(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (code !== 'ENOENT' && code !== 'ENOTDIR')
      throw new UsageError(`${shownPath(file)}: it cannot be read (${code}).`);
  }
  for (const path of [file, dirname(file)])
    if ((await isLink(path)) && !existsSync(path))
      throw new UsageError(`${shownPath(path)}: it is a link to something that is not there.`);
  return undefined;
}

const isLink = (path: string): Promise<boolean> =>
  lstat(path).then(
    (found) => found.isSymbolicLink(),
    () => false,
  );

/** Whoever can write to it decides what a model may do; whoever can write to its folder can take it away. */
async function refuseForeign(opened: FileHandle, file: string): Promise<void> {
  const facts = await opened.stat();
  const refuse = (why: string) => new UsageError(`${shownPath(file)}: ${why}`);
  if (!facts.isFile()) throw refuse('it is no regular file.');
  if (facts.size > mostBytes) throw refuse('it is larger than 1 MB.');
  const user = process.geteuid?.();
  if (user === undefined) return;
  if ((facts.mode & 0o002) !== 0) throw refuse('everybody can write to it. chmod o-w makes it usable.');
  // The system's administrator may have put it there.
  if (facts.uid !== user && facts.uid !== 0) throw refuse('it belongs to another user.');
  const folder = await stat(dirname(file));
  if ((folder.mode & 0o1002) === 0o002)
    throw refuse('everybody can write to the folder that it is in. chmod o-w makes it usable.');
}

/** By their real paths, as roots are; what is not there is kept as it is written, and said elsewhere. */
async function realFolders(
  folders: NonNullable<Config['folders']>,
  file: string,
  home: string,
): Promise<Record<string, Config>> {
  const real: Record<string, Config> = {};
  for (const [given, config] of Object.entries(folders)) {
    const path = resolve(expanded(given, file, home));
    const folder = await realpath(path).catch(() => path);
    if (real[folder])
      throw new UsageError(`${shownPath(file)}: folders: ${shownPath(given)} is there twice, by two names.`);
    real[folder] = config;
  }
  return real;
}

function expanded(root: string, file: string, home: string): string {
  const path = /^~(?:[/\\]|$)/.test(root) ? join(home, root.slice(2)) : root;
  if (isAbsolute(path)) return path;
  throw new UsageError(`${shownPath(file)}: ${shownPath(root)} is not absolute.`);
}
