import { existsSync, realpathSync } from 'node:fs';
import { readFile, realpath } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { isSea } from 'node:sea';
import { ToolcribError } from '../core/errors.ts';
import { upwards } from '../core/upwards.ts';
import { variable, type Host } from '../machine/host.ts';
import { isInside } from '../machine/paths/inside.ts';
import { cacheFolder } from '../store/own-files.ts';
import { version } from '../machine/version.ts';
import { ownCommand } from './usage.ts';

/** What starts toolcrib, up to the word `serve`. */
export interface Launch {
  readonly command: string;
  readonly args: readonly string[];
}

const pinned = `toolcrib@${version}`;
const npx: Launch = { command: 'npx', args: ['-y', pinned] };

/**
 * How hosts start this installation tomorrow as well. Throws PROGRAM_NOT_FOUND where it will be gone by then.
 */
export async function ownLaunch(host: Host): Promise<Launch> {
  const { command, script } = ownCommand();
  // One file, which unpacks itself.
  if (isSea()) return { command, args: [] };
  const real = await realpath(script);
  if (!isThrownAway(real, host)) return { command, args: [real] };
  const cached = /^(.*[\\/]_npx[\\/][^\\/]+)[\\/]/.exec(real)?.[1];
  if (cached !== undefined && !(await isOfOtherSource(cached)))
    // Many hosts cannot start npx.cmd there.
    return host.platform === 'win32' ? { command: 'cmd', args: ['/c', 'npx', '-y', pinned] } : npx;
  throw new ToolcribError(
    'PROGRAM_NOT_FOUND',
    `toolcrib runs from ${dirname(real)}, which does not stay: an entry would soon start nothing.`,
    `Install it, for example with npm install -g ${pinned}, and let that write the entry.`,
  );
}

/** How everybody starts it who has the project. */
export async function sharedLaunch(host: Host): Promise<Launch> {
  const folders = (variable(host, 'PATH') ?? '').split(delimiter).filter((folder) => folder !== '');
  const endings = host.platform === 'win32' ? ['.cmd', '.exe'] : [''];
  // Only what npm starts has this one on its path.
  const lasting = folders.filter((folder) => !/[\\/]node_modules[\\/]\.bin$/.test(folder));
  const [found] = await host.which('toolcrib', lasting, endings);
  const real = found && (await host.realPath(found));
  return real && !isThrownAway(real, host) ? { command: 'toolcrib', args: [] } : npx;
}

const caches =
  /[\\/](?:_npx|dlx(?:-[^\\/]*)?|bunx-[^\\/]*|xfs-[^\\/]*|\.yarn[\\/]cache|install[\\/]cache|store[\\/]v\d+)[\\/]/;

/** A script is in a folder that a package runner or the system empties. */
export function isThrownAway(script: string, { platform, env, home }: Host): boolean {
  if (caches.test(script)) return true;
  // A checkout, wherever it is, is where somebody wants it.
  const isCheckout = existsSync(join(dirname(dirname(script)), 'src', 'cli'));
  const cache = cacheFolder(platform, env, home);
  const folders = [realpathSync(tmpdir()), ...(cache === undefined ? [] : [dirname(cache)])];
  return !isCheckout && folders.some((folder) => isInside(script, folder));
}

/**
 * The package is not from the registry, but a file, a folder or a repository: its version says nothing there.
 */
async function isOfOtherSource(cached: string): Promise<boolean> {
  const text = await readFile(join(cached, 'package.json'), 'utf8').catch(() => '{}');
  const { dependencies = {} } = JSON.parse(text) as { dependencies?: Record<string, string> };
  return /[:/\\]/.test(dependencies['toolcrib'] ?? '');
}

/**
 * Why a folder is nobody's project, as the rest of a sentence: toolcrib's own, the home folder, and the like.
 */
export async function noProjectBecause(folder: string, host: Host): Promise<string | undefined> {
  const real = await realpath(folder);
  if (isInside(await realpath(host.home).catch(() => host.home), real)) return 'is or holds the home folder';
  if (real === (await realpath(tmpdir()))) return 'is for temporary files';
  if (/[\\/]node_modules(?:[\\/]|$)/.test(real)) return 'holds installed packages';
  const system = variable(host, 'SystemRoot');
  if (host.platform === 'win32' && system !== undefined && isInside(real, system)) return "is the system's";
  const script = await realpath(ownCommand().script).catch(() => undefined);
  if (script !== undefined && isInside(real, dirname(script))) return "is toolcrib's own";
  for (const above of upwards(real, [])) if (await isOurs(above)) return "is toolcrib's own";
  return undefined;
}

/** What is wrong with the folders that an entry opens: "/home/a/toolcrib is toolcrib's own". */
export async function flawOfRoots(roots: readonly string[], host: Host): Promise<string | undefined> {
  for (const root of roots) {
    const why = existsSync(root) ? await noProjectBecause(root, host) : 'is not there';
    if (why !== undefined) return `${root} ${why}`;
  }
  return undefined;
}

async function isOurs(folder: string): Promise<boolean> {
  const text = await readFile(join(folder, 'package.json'), 'utf8').catch(() => '');
  return /^\s*"name"\s*:\s*"toolcrib"/m.test(text);
}
