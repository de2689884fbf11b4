import type { Platform } from '../../core/discoverer.ts';
import { pathsOf, type Host } from '../host.ts';
import { variable } from '../variables.ts';
import type { SearchFolder } from './installation.ts';

/** Below which variable's value, or below which fallback, a manager keeps its folders. */
interface Known {
  readonly source: string;
  /** `~/` is the home folder, `%NAME%` a variable; a place whose variable is not set does not count. */
  readonly places: readonly string[];
  readonly on?: readonly Platform[];
}

const posix: readonly Platform[] = ['linux', 'darwin'];
const macos: readonly Platform[] = ['darwin'];
const linux: readonly Platform[] = ['linux'];
const windows: readonly Platform[] = ['win32'];

/** In order of preference: what a person chose for themselves comes before what the system brings. */
const known: readonly Known[] = [
  { source: '~/.local/bin (pipx, uv and others)', places: ['~/.local/bin'] },
  { source: 'pipx', places: ['%PIPX_BIN_DIR%'] },
  { source: '~/bin', places: ['~/bin'], on: posix },
  { source: 'Volta', places: ['%VOLTA_HOME%/bin', '~/.volta/bin'], on: posix },
  {
    source: 'Volta',
    places: ['%VOLTA_HOME%/bin', '%LOCALAPPDATA%/Volta/bin', '%ProgramFiles%/Volta'],
    on: windows,
  },
  {
    source: 'mise',
    places: ['%MISE_DATA_DIR%/shims', '%XDG_DATA_HOME%/mise/shims', '~/.local/share/mise/shims'],
    on: posix,
  },
  { source: 'mise', places: ['%MISE_DATA_DIR%/shims', '%LOCALAPPDATA%/mise/shims'], on: windows },
  { source: 'asdf', places: ['%ASDF_DATA_DIR%/shims', '~/.asdf/shims', '~/.asdf/bin'], on: posix },
  {
    source: 'pyenv',
    places: ['%PYENV_ROOT%/shims', '~/.pyenv/shims', '%PYENV_ROOT%/bin', '~/.pyenv/bin'],
    on: posix,
  },
  {
    source: 'pyenv',
    places: ['%PYENV_ROOT%/shims', '~/.pyenv/pyenv-win/shims', '~/.pyenv/pyenv-win/bin'],
    on: windows,
  },
  { source: 'rbenv', places: ['%RBENV_ROOT%/shims', '~/.rbenv/shims', '~/.rbenv/bin'], on: posix },
  { source: 'nodenv', places: ['%NODENV_ROOT%/shims', '~/.nodenv/shims'], on: posix },
  { source: 'jenv', places: ['%JENV_ROOT%/shims', '~/.jenv/shims', '~/.jenv/bin'], on: posix },
  { source: 'cargo', places: ['%CARGO_HOME%/bin', '~/.cargo/bin'] },
  { source: 'go', places: ['%GOBIN%', '%GOPATH%/bin', '~/go/bin'] },
  { source: 'go', places: ['/usr/local/go/bin'], on: posix },
  { source: 'go', places: ['%ProgramFiles%/Go/bin'], on: windows },
  {
    source: 'npm (global)',
    places: ['%npm_config_prefix%/bin', '~/.npm-global/bin', '~/.npm-packages/bin'],
    on: posix,
  },
  { source: 'npm (global)', places: ['%APPDATA%/npm'], on: windows },
  { source: 'pnpm', places: ['%PNPM_HOME%', '%PNPM_HOME%/bin'] },
  { source: 'pnpm', places: ['~/.local/share/pnpm', '~/.local/share/pnpm/bin'], on: linux },
  { source: 'pnpm', places: ['~/Library/pnpm', '~/Library/pnpm/bin'], on: macos },
  { source: 'pnpm', places: ['%LOCALAPPDATA%/pnpm', '%LOCALAPPDATA%/pnpm/bin'], on: windows },
  { source: 'yarn (global)', places: ['~/.yarn/bin'], on: posix },
  { source: 'Bun', places: ['%BUN_INSTALL%/bin', '~/.bun/bin'] },
  { source: 'Deno', places: ['%DENO_INSTALL%/bin', '~/.deno/bin'] },
  { source: '.NET tools', places: ['~/.dotnet/tools', '%DOTNET_ROOT%', '~/.dotnet'] },
  { source: 'conda', places: ['~/miniconda3/bin', '~/miniforge3/bin', '~/anaconda3/bin'], on: posix },
  { source: 'Composer', places: ['~/.composer/vendor/bin', '~/.config/composer/vendor/bin'], on: posix },
  { source: 'Nix', places: ['~/.nix-profile/bin', '/nix/var/nix/profiles/default/bin'], on: posix },
  { source: 'NixOS', places: ['/run/wrappers/bin', '/run/current-system/sw/bin'], on: linux },
  { source: 'Homebrew', places: ['%HOMEBREW_PREFIX%/bin', '%HOMEBREW_PREFIX%/sbin'], on: posix },
  { source: 'Homebrew', places: ['/opt/homebrew/bin', '/opt/homebrew/sbin'], on: macos },
  { source: 'Homebrew', places: ['/home/linuxbrew/.linuxbrew/bin', '~/.linuxbrew/bin'], on: linux },
  { source: 'MacPorts', places: ['/opt/local/bin', '/opt/local/sbin'], on: macos },
  { source: '/usr/local', places: ['/usr/local/bin', '/usr/local/sbin'], on: posix },
  { source: 'Docker Desktop', places: ['~/.docker/bin'], on: posix },
  { source: 'Docker Desktop', places: ['/Applications/Docker.app/Contents/Resources/bin'], on: macos },
  { source: 'Docker Desktop', places: ['%ProgramFiles%/Docker/Docker/resources/bin'], on: windows },
  { source: 'Rancher Desktop', places: ['~/.rd/bin'], on: posix },
  { source: 'OrbStack', places: ['~/.orbstack/bin'], on: macos },
  { source: 'JetBrains Toolbox', places: ['~/.local/share/JetBrains/Toolbox/scripts'], on: linux },
  {
    source: 'JetBrains Toolbox',
    places: ['~/Library/Application Support/JetBrains/Toolbox/scripts'],
    on: macos,
  },
  { source: 'JetBrains Toolbox', places: ['%LOCALAPPDATA%/JetBrains/Toolbox/scripts'], on: windows },
  {
    source: 'VS Code',
    places: ['/Applications/Visual Studio Code.app/Contents/Resources/app/bin'],
    on: macos,
  },
  {
    source: 'VS Code',
    places: ['~/Applications/Visual Studio Code.app/Contents/Resources/app/bin'],
    on: macos,
  },
  { source: 'VS Code', places: ['%LOCALAPPDATA%/Programs/Microsoft VS Code/bin'], on: windows },
  { source: 'VS Code', places: ['%ProgramFiles%/Microsoft VS Code/bin'], on: windows },
  { source: 'Postgres.app', places: ['/Applications/Postgres.app/Contents/Versions/latest/bin'], on: macos },
  { source: 'Snap', places: ['/snap/bin'], on: linux },
  {
    source: 'Flatpak',
    places: ['~/.local/share/flatpak/exports/bin', '/var/lib/flatpak/exports/bin'],
    on: linux,
  },
  {
    source: 'Scoop',
    places: ['%SCOOP%/shims', '~/scoop/shims', '%SCOOP_GLOBAL%/shims', '%ProgramData%/scoop/shims'],
    on: windows,
  },
  { source: 'Chocolatey', places: ['%ChocolateyInstall%/bin', '%ProgramData%/chocolatey/bin'], on: windows },
  {
    source: 'winget',
    places: ['%LOCALAPPDATA%/Microsoft/WinGet/Links', '%ProgramFiles%/WinGet/Links'],
    on: windows,
  },
  {
    source: 'Git for Windows',
    places: ['%ProgramFiles%/Git/cmd', '%LOCALAPPDATA%/Programs/Git/cmd'],
    on: windows,
  },
  { source: 'Node.js', places: ['%ProgramFiles%/nodejs'], on: windows },
  { source: 'CMake', places: ['%ProgramFiles%/CMake/bin'], on: windows },
  { source: 'CMake', places: ['/Applications/CMake.app/Contents/bin'], on: macos },
  { source: 'Store apps', places: ['%LOCALAPPDATA%/Microsoft/WindowsApps'], on: windows },
  { source: 'system', places: ['/usr/bin', '/bin', '/usr/sbin', '/sbin'], on: posix },
];

/** The folders of version managers and package managers on a host, whether they exist or not. */
export async function knownFolders(host: Host): Promise<SearchFolder[]> {
  const managed = await Promise.all([nvmFolder(host), fnmFolder(host), sdkmanFolders(host)]);
  const listed = known
    .filter(({ on }) => on === undefined || on.includes(host.platform))
    .flatMap(({ source, places }) =>
      places.map((place) => ({ source, folder: expandPlace(place, host) })).filter(hasFolder),
    );
  return [...managed.flat(), ...listed];
}

const hasFolder = (found: { source: string; folder: string | undefined }): found is SearchFolder =>
  found.folder !== undefined;

/** An absolute path for one written with `~/` and `%NAME%`; undefined when a variable is missing or it is not absolute. */
export function expandPlace(place: string, host: Host): string | undefined {
  const { isAbsolute, normalize } = pathsOf(host);
  let missing = false;
  const expanded = place
    .replace(/^~(?=[\\/])/, () => host.home)
    .replaceAll(/%([^%]+)%/g, (_, name: string) => {
      const value = variable(host, name);
      if (!value) missing = true;
      return value ?? '';
    });
  return missing || !isAbsolute(expanded) ? undefined : normalize(expanded);
}

/** nvm keeps one folder a version and no folder for the chosen one: its `default` alias says which, else the newest. */
async function nvmFolder(host: Host): Promise<SearchFolder[]> {
  // nvm for Windows keeps the chosen version behind one link.
  if (host.platform === 'win32') return oneFolder('nvm-windows', expandPlace('%NVM_SYMLINK%', host));
  const { join } = pathsOf(host);
  const root = variable(host, 'NVM_DIR') || join(host.home, '.nvm');
  const versions = await host.list(join(root, 'versions', 'node'));
  const chosen = matching(versions, await nvmAlias(host, root, 'default')) ?? newest(versions);
  return oneFolder('nvm', chosen && join(root, 'versions', 'node', chosen, 'bin'));
}

/** Aliases can name other aliases (`default` -> `lts/*` -> `lts/jod` -> `v22.11.0`); a loop ends after five steps. */
async function nvmAlias(host: Host, root: string, name: string, steps = 5): Promise<string> {
  const content =
    steps > 0 && !name.includes('..')
      ? await host.head(pathsOf(host).join(root, 'alias', name), 100)
      : undefined;
  const target = content?.trim();
  return target ? nvmAlias(host, root, target, steps - 1) : name;
}

/** fnm links the default version as an alias; without one, the newest. */
async function fnmFolder(host: Host): Promise<SearchFolder[]> {
  const { join } = pathsOf(host);
  const places = [
    '%FNM_DIR%',
    '%XDG_DATA_HOME%/fnm',
    '%APPDATA%/fnm',
    '~/.local/share/fnm',
    '~/.fnm',
    '~/Library/Application Support/fnm',
  ];
  const inside = host.platform === 'win32' ? [] : ['bin'];
  for (const root of places.map((place) => expandPlace(place, host)).filter((found) => found !== undefined)) {
    const fallback = join(root, 'aliases', 'default');
    if (await host.stat(fallback)) return oneFolder('fnm', join(fallback, ...inside));
    const chosen = newest(await host.list(join(root, 'node-versions')));
    if (chosen) return oneFolder('fnm', join(root, 'node-versions', chosen, 'installation', ...inside));
  }
  return [];
}

/** SDKMAN links the chosen version of each candidate (java, gradle, …) as `current`. */
async function sdkmanFolders(host: Host): Promise<SearchFolder[]> {
  if (host.platform === 'win32') return [];
  const { join } = pathsOf(host);
  const root = join(variable(host, 'SDKMAN_DIR') || join(host.home, '.sdkman'), 'candidates');
  const candidates = await host.list(root);
  return candidates.map((candidate) => ({
    source: 'SDKMAN',
    folder: join(root, candidate, 'current', 'bin'),
  }));
}

const oneFolder = (source: string, folder: string | undefined): SearchFolder[] =>
  folder ? [{ source, folder }] : [];

/** The newest version that `wanted` (`22`, `v22.11`, `node`) names, if any. */
function matching(versions: readonly string[], wanted: string): string | undefined {
  const prefix = /^v?(\d+(?:\.\d+)*)$/.exec(wanted)?.[1];
  if (prefix === undefined) return undefined;
  return newest(versions.filter((version) => version === `v${prefix}` || version.startsWith(`v${prefix}.`)));
}

function newest(versions: readonly string[]): string | undefined {
  return versions
    .filter((version) => /^v\d/.test(version))
    .sort(byNumbers)
    .at(-1);
}

const byNumbers = (a: string, b: string): number => a.localeCompare(b, 'en', { numeric: true });
