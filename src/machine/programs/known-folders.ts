import type { Platform } from '../../core/discoverer.ts';
import { pathsOf, variable, type Host } from '../host.ts';
import type { SearchFolder } from './installation.ts';

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
export async function knownFolders(host: Host): Promise<SearchFolder[]> {
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
