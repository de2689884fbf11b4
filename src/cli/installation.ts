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

/** The command line that starts toolcrib, up to the word `serve`. */
export interface Launch {
  readonly command: string;
  readonly args: readonly string[];
}

const pinned = `toolcrib@${version}`;
const npx: Launch = { command: 'npx', args: ['-y', pinned] };

/**
 * The command line with which hosts start this installation, also in the future. Throws PROGRAM_NOT_FOUND
 * where it will soon be gone.
 */
export async function ownLaunch(host: Host): Promise<Launch> {
  const { command, script } = ownCommand();
  // The single executable has no script.
  if (isSea()) return { command, args: [] };
  const real = await realpath(script);
  if (!isThrownAway(real, host)) return { command, args: [real] };
  const cached = /^(.*[\\/]_npx[\\/][^\\/]+)[\\/]/.exec(real)?.[1];
  if (cached !== undefined && !(await isOfOtherSource(cached)))
    // Many hosts cannot start npx.cmd on Windows.
    return host.platform === 'win32' ? { command: 'cmd', args: ['/c', 'npx', '-y', pinned] } : npx;
  throw new ToolcribError(
    'PROGRAM_NOT_FOUND',
    `toolcrib runs from ${dirname(real)}, which does not stay: an entry would soon start nothing.`,
    `Install it, for example with npm install -g ${pinned}, and let that write the entry.`,
  );
}

/** The command line with which everybody who has the project starts toolcrib. */
export async function sharedLaunch(host: Host): Promise<Launch> {
  const folders = (variable(host, 'PATH') ?? '').split(delimiter).filter((folder) => folder !== '');
  const endings = host.platform === 'win32' ? ['.cmd', '.exe'] : [''];
  // Only programs that npm starts have this folder on their path.
  const lasting = folders.filter((folder) => !/[\\/]node_modules[\\/]\.bin$/.test(folder));
  const [program] = await host.which('toolcrib', lasting, endings);
  const real = program && (await host.realPath(program));
  return real && !isThrownAway(real, host) ? { command: 'toolcrib', args: [] } : npx;
}

const caches = new RegExp(
  String.raw`[\\/](?:_npx|dlx(?:-[^\\/]*)?|bunx-[^\\/]*|xfs-[^\\/]*` +
    String.raw`|\.yarn[\\/]cache|install[\\/]cache|store[\\/]v\d+)[\\/]`,
);

/** True where a script is in a folder that a package runner or the system empties. */
export function isThrownAway(script: string, { platform, env, home }: Host): boolean {
  if (caches.test(script)) return true;
  // A checkout stays where somebody put it.
  const isCheckout = existsSync(join(dirname(dirname(script)), 'src', 'cli'));
  const cache = cacheFolder(platform, env, home);
  const folders = [realpathSync(tmpdir()), ...(cache === undefined ? [] : [dirname(cache)])];
  return !isCheckout && folders.some((folder) => isInside(script, folder));
}

/**
 * True where the package is not from the registry but from a file, a folder or a repository, for which its
 * version says nothing.
 */
async function isOfOtherSource(cached: string): Promise<boolean> {
  const text = await readFile(join(cached, 'package.json'), 'utf8').catch(() => '{}');
  const { dependencies = {} } = JSON.parse(text) as { dependencies?: Record<string, string> };
  return /[:/\\]/.test(dependencies['toolcrib'] ?? '');
}

/**
 * The reason why a folder is nobody's project, as the rest of a sentence: it is toolcrib's own, the home
 * folder, or the like.
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
  for (const ancestor of upwards(real, [])) if (await isOurs(ancestor)) return "is toolcrib's own";
  return undefined;
}

/** The flaw of the folders that an entry opens: "/home/a/toolcrib is toolcrib's own". */
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
