import type { Platform } from '../../core/discoverer.ts';
import { pathsOf, variable, type Host } from '../host.ts';
import { isInside } from '../paths/inside.ts';
import type { SearchFolder, SearchPath } from './installation.ts';

/** What a login shell said its PATH is. */
export interface LoginShellPath {
  /** Absolute path of the shell. */
  readonly shell: string;
  readonly path: string;
}

/** The folders a desktop host starts its servers with. They are no choice of a person's. */
const systemFolder = /^(?:\/usr(?:\/local)?)?\/(?:s?bin|games)$|^\/snap\/bin$/;

/**
 * Where to look for programs: folders that the settings add, the process's own PATH, then the login shell's, then
 * the folders of version and package managers that exist. Where the own PATH has nothing but the system's folders,
 * the login shell's comes first: that is what the person's terminal would start. Entries through which someone
 * else, or the project, could choose the program are left out, with the reason.
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
  const given = [...first, ...(isBare ? [...shell, ...own] : [...own, ...shell])];
  const wanted = [...given, ...(await knownFolders(host))];
  const looks = await Promise.all(wanted.map(({ folder }) => lookAtFolder(folder, host, projectRoots)));

  const folders = new Map<string, SearchFolder>();
  const skipped = new Map<string, SearchPath['skipped'][number]>();
  for (const [index, { folder, source }] of wanted.entries()) {
    const look = looks[index];
    if (look && 'real' in look) {
      if (!folders.has(look.real)) folders.set(look.real, { folder: look.folder, source });
    } else if (!skipped.has(folder) && (look || index < given.length))
      skipped.set(folder, { folder, source, why: look?.why ?? 'does not exist' });
  }
  const stamp = looks.map((look) => look && 'real' in look && `${look.real} ${look.mtimeMs}`).join('\n');
  return { folders: [...folders.values()], skipped: [...skipped.values()], stamp };
}

function entriesOf(path: string | undefined, source: string, host: Host): SearchFolder[] {
  const entries = path ? path.split(pathsOf(host).delimiter) : [];
  // Windows allows quotes around an entry that holds a semicolon or a blank.
  const plain = (entry: string) => (host.platform === 'win32' ? entry.replaceAll('"', '').trim() : entry);
  return entries.map((entry) => ({ folder: plain(entry), source }));
}

/** `real` is the same for all spellings of a folder. */
type FolderLook =
  | { readonly folder: string; readonly real: string; readonly mtimeMs: number }
  | { readonly why: string };

/** A folder to look for programs in, or why not in this one; undefined when there is none. */
export async function lookAtFolder(
  given: string,
  host: Host,
  projectRoots: readonly string[] = [],
): Promise<FolderLook | undefined> {
  const paths = pathsOf(host);
  // `\tools` and `C:tools` on Windows depend on the current drive and folder.
  const full = host.platform === 'win32' ? /^(?:[a-z]:[\\/]|[\\/]{2}[^\\/])/i : /^\//;
  if (!full.test(given)) return { why: 'depends on the working directory, which would decide what is run' };
  // `npm run` and `npx` put these on the PATH of everything they start.
  if (/[\\/]node_modules[\\/]\.bin[\\/]?$|[\\/]node-gyp-bin[\\/]?$/.test(given))
    return { why: "holds a project's own programs, which are used for that project only" };
  const facts = await host.stat(given);
  if (!facts) return undefined;
  if (!facts.isFolder) return { why: 'is not a folder' };
  if ((facts.mode & 0o002) !== 0)
    return { why: 'everyone can write to it, so anyone could put a program there' };
  const folder = paths.join(given, '.');
  const real = (await host.realPath(folder)) ?? folder;
  const root = projectRoots.find((candidate) => isInside(real, candidate, paths));
  // When the whole home folder is the root, ~/.local/bin lies in it as well: then only Python's own marker tells.
  const home = (await host.realPath(host.home)) ?? host.home;
  const marker = paths.join(paths.dirname(real), 'pyvenv.cfg');
  if (root !== undefined && (!isInside(home, root, paths) || (await host.stat(marker))))
    return { why: `lies in the project ${root}, whose own programs are used for that project only` };
  const { mtimeMs } = facts;
  return { folder, real: host.platform === 'win32' ? real.toLowerCase() : real, mtimeMs };
}

const everywhere = '~/.local/bin ~/.cargo/bin ~/go/bin ~/.bun/bin ~/.deno/bin ~/.dotnet/tools';
const posix = `${everywhere} ~/bin ~/.volta/bin ~/.local/share/mise/shims ~/.asdf/shims ~/.pyenv/shims ~/.rbenv/shims
  ~/.nvm/versions/node/*/bin ~/.local/share/fnm/aliases/default/bin ~/.sdkman/candidates/*/current/bin
  ~/.npm-global/bin ~/.yarn/bin ~/miniconda3/bin ~/miniforge3/bin ~/.nix-profile/bin ~/.docker/bin`;
const system = '/usr/local/bin /usr/local/go/bin /usr/bin /bin /usr/sbin /sbin';

/** Where version and package managers put programs, in order of preference: what a person chose comes first. */
const places: Readonly<Record<Platform, string>> = {
  linux: `${posix} ~/.local/share/pnpm /home/linuxbrew/.linuxbrew/bin /run/current-system/sw/bin /snap/bin ${system}`,
  darwin: `${posix} ~/Library/pnpm ~/.orbstack/bin /opt/homebrew/bin /opt/homebrew/sbin /opt/local/bin ${system}`,
  win32: `${everywhere} %NVM_SYMLINK% %APPDATA%/npm %LOCALAPPDATA%/pnpm %LOCALAPPDATA%/Volta/bin
    %LOCALAPPDATA%/mise/shims ~/.pyenv/pyenv-win/shims ~/scoop/shims %ProgramData%/chocolatey/bin
    %LOCALAPPDATA%/Microsoft/WinGet/Links %ProgramFiles%/nodejs %ProgramFiles%/Git/cmd`,
};

/** The folders in which programs usually are on a host, whether they exist or not. */
async function knownFolders(host: Host): Promise<SearchFolder[]> {
  const known = places[host.platform].split(/\s+/).map((place) => expandPlace(place, host));
  return (await Promise.all(known)).flat().map((folder) => ({ folder, source: 'known folder' }));
}

/**
 * Absolute paths for one written with `~/`, `%NAME%` and `*` for all that a folder holds, the newest version first.
 * None when a variable is missing, or it is not absolute.
 */
export async function expandPlace(place: string, host: Host): Promise<string[]> {
  const { isAbsolute, join, normalize } = pathsOf(host);
  let missing = false;
  const expanded = place
    .replace(/^~(?=[\\/])/, () => host.home)
    .replaceAll(/%([^%]+)%/g, (_, name: string) => {
      const value = variable(host, name);
      if (!value) missing = true;
      return value ?? '';
    });
  if (missing || !isAbsolute(expanded)) return [];
  const [, above, below] = /^([^*]*)\*[\\/](.*)$/.exec(expanded) ?? [];
  if (above === undefined || below === undefined) return [normalize(expanded)];
  const names = [...(await host.list(above))].sort((a, b) => b.localeCompare(a, 'en', { numeric: true }));
  return (await Promise.all(names.map((name) => expandPlace(join(above, name, below), host)))).flat();
}
