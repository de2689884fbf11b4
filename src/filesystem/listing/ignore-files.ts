import { constants } from 'node:fs';
import { lstat, open } from 'node:fs/promises';
import { isAbsolute, join, sep } from 'node:path';
import { decode } from '../../machine/decode.ts';
import { windowsPathTrick } from '../../machine/paths/windows-path.ts';

/** The text of a small plain file; `'too_large'`, or undefined for anything else. Never waits for a FIFO. */
export async function readSmallFile(
  path: string,
  mostBytes: number,
  { follow = false }: { follow?: boolean } = {},
): Promise<string | 'too_large' | undefined> {
  const { O_RDONLY, O_NONBLOCK = 0, O_NOCTTY = 0, O_NOFOLLOW = 0 }: Partial<typeof constants> = constants;
  const flags = (O_RDONLY ?? 0) | O_NONBLOCK | O_NOCTTY | (follow ? 0 : O_NOFOLLOW);
  // One that is not there, or may not be read, has no rules.
  const handle = await open(path, flags).catch(() => undefined);
  if (!handle) return undefined;
  try {
    const { size, isFile } = await handle.stat().then((stat) => ({ size: stat.size, isFile: stat.isFile() }));
    if (!isFile) return undefined;
    if (size > mostBytes) return 'too_large';
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(size), 0, size, 0);
    return decode(buffer.subarray(0, bytesRead));
  } catch {
    // A disk that fails, a lock on Windows.
    return undefined;
  } finally {
    await handle.close();
  }
}

/** Larger than any file that only names a folder. */
const mostPointer = 16_384;

/**
 * Where the repository whose `.git` lies in a folder keeps its own excludes (gitrepository-layout(5)); undefined where
 * that cannot be told. The path need not exist.
 */
export async function ownExcludes(folder: string): Promise<string | undefined> {
  const place = folder + sep + '.git';
  const found = await lstat(place).catch(() => undefined);
  if (!found?.isFile()) return [place, 'info', 'exclude'].join(sep);
  const text = await readSmallFile(place, mostPointer);
  const data = follow(folder, /^gitdir: ([^\r\n]+)\s*$/.exec(text ?? '')?.[1]);
  if (data === undefined) return undefined;
  // What worktrees of one repository share.
  const shared = await readSmallFile(data + sep + 'commondir', mostPointer);
  const common = shared === undefined ? data : follow(data, shared.trim());
  return common && [common, 'info', 'exclude'].join(sep);
}

/** Not join(): the folder may be given by the number of what was opened, from where the system has to go up. */
function follow(folder: string, target: string | undefined): string | undefined {
  if (!target || target.includes('\0')) return undefined;
  if (process.platform === 'win32' && windowsPathTrick(target)) return undefined;
  return isAbsolute(target) ? target : folder + sep + target;
}

type Env = Readonly<Record<string, string | undefined>>;

/** Where this user keeps excludes for all repositories (gitignore(5)); undefined without a home. */
export async function userExcludes(env: Env): Promise<string | undefined> {
  const home = env['HOME'] ?? env['USERPROFILE'];
  if (!home) return undefined;
  const settings = join(env['XDG_CONFIG_HOME'] || join(home, '.config'), 'git');
  for (const config of [join(home, '.gitconfig'), join(settings, 'config')]) {
    const text = await readSmallFile(config, mostConfig, { follow: true });
    const named = text === undefined ? undefined : excludesFileIn(text);
    if (named === undefined) continue;
    if (named.startsWith('~/')) return join(home, named.slice(2));
    return isAbsolute(named) ? named : undefined;
  }
  return join(settings, 'ignore');
}

const mostConfig = 1024 * 1024;

/** The last `core.excludesFile` of a git configuration (git-config(1), "Syntax"); includes are not followed. */
function excludesFileIn(config: string): string | undefined {
  let inCore = false;
  let found: string | undefined;
  for (const line of config.split('\n')) {
    const [, section, rest = line] = /^\s*\[([^\]]*)\](.*)$/.exec(line) ?? [];
    if (section !== undefined) inCore = section.trim().toLowerCase() === 'core';
    const value = inCore ? /^\s*excludesfile\s*=(.*)$/i.exec(rest)?.[1] : undefined;
    if (value === undefined) continue;
    const quoted = /^\s*"((?:[^"\\]|\\.)*)"/.exec(value)?.[1];
    found = (quoted ?? value.replace(/[#;].*$/, '').trim()).replaceAll(/\\(.)/g, '$1');
  }
  return found;
}
