import { pathsOf, variable, type Host } from '../host.ts';
import { isInside } from '../paths/inside.ts';
import type { SearchFolder, SearchPath } from './installation.ts';
import { knownFolders } from './known-folders.ts';

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
type Look =
  | { readonly folder: string; readonly real: string; readonly mtimeMs: number }
  | { readonly why: string };

/** A folder to look for programs in, or why not in this one; undefined when there is none. */
export async function lookAtFolder(
  given: string,
  host: Host,
  projectRoots: readonly string[] = [],
): Promise<Look | undefined> {
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
