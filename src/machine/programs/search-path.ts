import { pathsOf, type Host } from '../host.ts';
import { isInside } from '../paths/inside.ts';
import type { SearchFolder, SearchPath } from './installation.ts';
import { knownFolders } from './known-folders.ts';
import { variable } from '../variables.ts';

/** What a login shell said its PATH is. */
export interface LoginShellPath {
  /** Absolute path of the shell. */
  readonly shell: string;
  readonly path: string;
}

type Skipped = SearchPath['skipped'][number];
type Checked = { readonly folder: string; readonly real: string } | { readonly why: string } | 'absent';

/**
 * Where to look for programs: the process's own PATH, then the login shell's, then the folders of version and
 * package managers that exist. Entries through which someone else, or the project, could choose the program are
 * left out, with the reason.
 */
export async function searchPath(
  host: Host,
  loginShell?: LoginShellPath,
  projectRoots: readonly string[] = [],
): Promise<SearchPath> {
  const given = [
    ...entriesOf(variable(host, 'PATH'), host).map((folder) => ({ folder, source: 'PATH' })),
    ...entriesOf(loginShell?.path, host).map((folder) => ({
      folder,
      source: `login shell (${loginShell?.shell})`,
    })),
  ];
  const known = (await knownFolders(host)).map((folder) => ({ ...folder, optional: true }));
  const wanted = withoutRepeats<SearchFolder & { optional?: boolean }>([...given, ...known], host);
  const checked = await Promise.all(wanted.map(({ folder }) => check(folder, host, projectRoots)));

  const folders: SearchFolder[] = [];
  const skipped: Skipped[] = [];
  const taken = new Map<string, string>();
  for (const [index, { folder, source, optional }] of wanted.entries()) {
    const found = checked[index] ?? 'absent';
    const same = typeof found === 'object' && 'real' in found ? taken.get(found.real) : undefined;
    if (same !== undefined && optional) continue;
    if (same !== undefined) skipped.push({ folder, source, why: `the same folder as ${same}` });
    else if (found !== 'absent' && 'why' in found) skipped.push({ folder, source, why: found.why });
    else if (found !== 'absent') {
      taken.set(found.real, folder);
      folders.push({ folder: found.folder, source });
    } else if (!optional) skipped.push({ folder, source, why: 'does not exist' });
  }
  return { folders, skipped };
}

function entriesOf(path: string | undefined, host: Host): string[] {
  if (!path) return [];
  const entries = path.split(pathsOf(host).delimiter);
  // Windows allows quotes around an entry that holds a semicolon or a blank.
  return host.platform === 'win32' ? entries.map((entry) => entry.replaceAll('"', '').trim()) : entries;
}

function withoutRepeats<F extends SearchFolder>(folders: readonly F[], host: Host): F[] {
  const seen = new Set<string>();
  return folders.filter(({ folder }) => {
    const key = comparable(folder, host);
    return seen.has(key) ? false : seen.add(key);
  });
}

/** One spelling for a folder: no separator at its end, and no difference of case where the platform makes none. */
function comparable(folder: string, host: Host): string {
  if (folder === '') return '';
  const normal = pathsOf(host).join(folder, '.');
  return host.platform === 'win32' ? normal.toLowerCase() : normal;
}

async function check(folder: string, host: Host, projectRoots: readonly string[]): Promise<Checked> {
  if (folder === '') return { why: 'empty, which means the working directory' };
  if (folder === '.') return { why: 'is the working directory' };
  // oxlint-disable-next-line no-control-regex
  if (/[\u0000-\u001f\u007f]/.test(folder)) return { why: 'contains control characters' };
  if (!isFullPath(folder, host))
    return { why: 'is relative, so the working directory would decide what is run' };
  // `npm run` and `npx` put these on the PATH of everything they start.
  if (/[\\/]node_modules[\\/]\.bin[\\/]?$|[\\/]node-gyp-bin[\\/]?$/.test(folder)) {
    return { why: "holds a project's own programs, which are used for that project only" };
  }
  const facts = await host.stat(folder);
  if (!facts) return 'absent';
  if (!facts.isFolder) return { why: 'is not a folder' };
  if ((facts.mode & 0o002) !== 0)
    return { why: 'everyone can write to it, so anyone could put a program there' };
  const real = (await host.realPath(folder)) ?? folder;
  const root = projectRoots.find((candidate) => isInside(real, candidate, pathsOf(host)));
  if (root !== undefined && (await isOfProject(real, root, host))) {
    return { why: `lies in the project ${root}, whose own programs are used for that project only` };
  }
  return { folder: pathsOf(host).normalize(folder), real: comparable(real, host) };
}

/** `\tools` and `C:tools` on Windows depend on the current drive and folder, though the first counts as absolute. */
const isFullPath = (folder: string, host: Host): boolean =>
  host.platform === 'win32' ? /^(?:[a-z]:[\\/]|[\\/]{2}[^\\/])/i.test(folder) : folder.startsWith('/');

/** When the whole home folder is the root, ~/.local/bin lies in it as well: then only Python's own marker tells. */
async function isOfProject(folder: string, root: string, host: Host): Promise<boolean> {
  const home = (await host.realPath(host.home)) ?? host.home;
  if (!isInside(home, root, pathsOf(host))) return true;
  const { dirname, join } = pathsOf(host);
  return (await host.stat(join(dirname(folder), 'pyvenv.cfg'))) !== undefined;
}
