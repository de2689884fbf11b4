import type { Platform } from '../../core/discoverer.ts';
import { pathsOf, variable, type Host } from '../host.ts';
import { isInside } from '../paths/inside.ts';
import type { SearchFolder, SearchPath } from './installation.ts';

/** The PATH of a login shell. */
export interface LoginShellPath {
  /** The absolute path of the shell. */
  readonly shell: string;
  readonly path: string;
}

/** The folders with which a desktop host starts its servers. No person has chosen them. */
const systemFolder = /^(?:\/usr(?:\/local)?)?\/(?:s?bin|games)$|^\/snap\/bin$/;

/**
 * Determines the folders that are searched for programs: those that the settings add, the process's own PATH,
 * then the login shell's, then the existing folders of version and package managers. Where our own PATH has
 * only the system's folders, the login shell's comes first, because the person's terminal would use that.
 * Entries through which someone else, or the project, could choose the program are left out, with the reason.
 */
export async function searchPath(
  host: Host,
  loginShell?: LoginShellPath,
  projectRoots: readonly string[] = [],
  added: readonly string[] = [],
): Promise<SearchPath> {
  const first = added.map((folder) => ({ folder, source: 'settings' }));
  const own = entriesOf(variable(host, 'PATH'), 'PATH', host);
  const shell = entriesOf(loginShell?.path, `login shell (${loginShell?.shell})`, host);
  const isBare = own.every(({ folder }) => systemFolder.test(folder));
  const configured = [...first, ...(isBare ? [...shell, ...own] : [...own, ...shell])];
  const candidates = [...configured, ...(await knownFolders(host))];
  const checks = await Promise.all(candidates.map(({ folder }) => lookAtFolder(folder, host, projectRoots)));

  const folders = new Map<string, SearchFolder>();
  const skipped = new Map<string, SearchPath['skipped'][number]>();
  for (const [index, { folder, source }] of candidates.entries()) {
    const check = checks[index];
    if (check && 'real' in check) {
      if (!folders.has(check.real)) folders.set(check.real, { folder: check.folder, source });
    } else if (!skipped.has(folder) && (check || index < configured.length))
      skipped.set(folder, { folder, source, why: check?.why ?? 'does not exist' });
  }
  const stamp = checks
    .map((check) => check && 'real' in check && `${check.real} ${check.mtimeMs}`)
    .join('\n');
  return { folders: [...folders.values()], skipped: [...skipped.values()], stamp };
}

function entriesOf(path: string | undefined, source: string, host: Host): SearchFolder[] {
  const entries = path ? path.split(pathsOf(host).delimiter) : [];
  // Windows allows quotes around an entry that holds a semicolon or a blank.
  const plain = (entry: string) => (host.platform === 'win32' ? entry.replaceAll('"', '').trim() : entry);
  return entries.map((entry) => ({ folder: plain(entry), source }));
}

/**
 * The check of a folder: its paths, of which `real` is the same for all spellings, or the reason to leave it
 * out.
 */
type FolderCheck =
  | { readonly folder: string; readonly real: string; readonly mtimeMs: number }
  | { readonly why: string };

/**
 * Checks a folder that may be searched for programs. Returns the reason where it may not, and undefined when
 * it does not exist.
 */
export async function lookAtFolder(
  path: string,
  host: Host,
  projectRoots: readonly string[] = [],
): Promise<FolderCheck | undefined> {
  const paths = pathsOf(host);
  // `\tools` and `C:tools` on Windows depend on the current drive and folder.
  const full = host.platform === 'win32' ? /^(?:[a-z]:[\\/]|[\\/]{2}[^\\/])/i : /^\//;
  if (!full.test(path)) return { why: 'depends on the working directory, which would decide what is run' };
  // `npm run` and `npx` put these on the PATH of everything they start.
  if (/[\\/]node_modules[\\/]\.bin[\\/]?$|[\\/]node-gyp-bin[\\/]?$/.test(path))
    return { why: "holds a project's own programs, which are used for that project only" };
  const facts = await host.stat(path);
  if (!facts) return undefined;
  if (!facts.isFolder) return { why: 'is not a folder' };
  if ((facts.mode & 0o002) !== 0)
    return { why: 'everyone can write to it, so anyone could put a program there' };
  const folder = paths.join(path, '.');
  const real = (await host.realPath(folder)) ?? folder;
  const root = projectRoots.find((candidate) => isInside(real, candidate, paths));
  // When the whole home folder is the root, ~/.local/bin lies in it as well: then only the marker of a Python
  // environment tells a project's folder.
  const home = (await host.realPath(host.home)) ?? host.home;
  const marker = paths.join(paths.dirname(real), 'pyvenv.cfg');
  if (root !== undefined && (!isInside(home, root, paths) || (await host.stat(marker))))
    return { why: `lies in the project ${root}, whose own programs are used for that project only` };
  const { mtimeMs } = facts;
  return { folder, real: host.platform === 'win32' ? real.toLowerCase() : real, mtimeMs };
}

const everywhere = '~/.local/bin ~/.cargo/bin ~/go/bin ~/.bun/bin ~/.deno/bin ~/.dotnet/tools';
const posix = `${everywhere} ~/bin ~/.volta/bin
  ~/.local/share/mise/shims ~/.asdf/shims ~/.pyenv/shims ~/.rbenv/shims ~/.nvm/versions/node/*/bin
  ~/.local/share/fnm/aliases/default/bin ~/.sdkman/candidates/*/current/bin
  ~/.npm-global/bin ~/.yarn/bin ~/miniconda3/bin ~/miniforge3/bin ~/.nix-profile/bin ~/.docker/bin`;
const system = '/usr/local/bin /usr/local/go/bin /usr/bin /bin /usr/sbin /sbin';

/**
 * The folders in which version and package managers put programs, in order of preference: what a person chose
 * comes first.
 */
const usualFolders: Readonly<Record<Platform, string>> = {
  linux: `${posix} ~/.local/share/pnpm /home/linuxbrew/.linuxbrew/bin
    /run/current-system/sw/bin /snap/bin ${system}`,
  darwin: `${posix} ~/Library/pnpm ~/.orbstack/bin
    /opt/homebrew/bin /opt/homebrew/sbin /opt/local/bin ${system}`,
  win32: `${everywhere} %NVM_SYMLINK% %APPDATA%/npm %LOCALAPPDATA%/pnpm %LOCALAPPDATA%/Volta/bin
    %LOCALAPPDATA%/mise/shims ~/.pyenv/pyenv-win/shims ~/scoop/shims %ProgramData%/chocolatey/bin
    %LOCALAPPDATA%/Microsoft/WinGet/Links %ProgramFiles%/nodejs %ProgramFiles%/Git/cmd`,
};

/** The folders in which programs usually are on a host, whether or not they exist. */
async function knownFolders(host: Host): Promise<SearchFolder[]> {
  const known = usualFolders[host.platform].split(/\s+/).map((place) => expandPlace(place, host));
  return (await Promise.all(known)).flat().map((folder) => ({ folder, source: 'known folder' }));
}

/**
 * Expands a path with `~/`, `%NAME%`, and `*` for any entry of a folder, to absolute paths, the newest
 * version first. Empty when a variable is missing, or the path is not absolute.
 */
export async function expandPlace(place: string, host: Host): Promise<string[]> {
  const { isAbsolute, join, normalize } = pathsOf(host);
  const inHome = place.replace(/^~(?=[\\/])/, () => host.home);
  const values = [...inHome.matchAll(/%([^%]+)%/g)].map(([, name = '']) => variable(host, name));
  if (values.some((value) => !value)) return [];
  const expanded = inHome.replaceAll(/%([^%]+)%/g, (_, name: string) => variable(host, name) ?? '');
  if (!isAbsolute(expanded)) return [];
  const [, parent, rest] = /^([^*]*)\*[\\/](.*)$/.exec(expanded) ?? [];
  if (parent === undefined || rest === undefined) return [normalize(expanded)];
  const names = [...(await host.list(parent))].sort((a, b) => b.localeCompare(a, 'en', { numeric: true }));
  return (await Promise.all(names.map((name) => expandPlace(join(parent, name, rest), host)))).flat();
}
