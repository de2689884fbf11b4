import type { Platform } from '../../src/core/discoverer.ts';
import type { FileFacts, Host } from '../../src/machine/host.ts';
import { factsOf, pathsOf } from '../../src/machine/host.ts';

/** The record of a file: nothing but its name, or what differs from a plain program of our own. */
export interface Recorded extends Partial<FileFacts> {
  /** The first bytes of it. */
  readonly head?: string;
  /** The path that it leads to, when it is a symbolic link. */
  readonly leadsTo?: string;
}

export type Files = Readonly<Record<string, Recorded>>;

/** Modes as libuv gives them, which on Windows makes up 0666 for all. */
const modes = { win32: { file: 0o100666, folder: 0o040666 }, posix: { file: 0o100755, folder: 0o040755 } };

function factsOn(platform: Platform, { isFolder = false, ...recorded }: Recorded): FileFacts {
  const mode = modes[platform === 'win32' ? platform : 'posix'][isFolder ? 'folder' : 'file'];
  const size = isFolder ? 64 : 100_000;
  const said = { mode, size, mtimeMs: 1_700_000_000_000, ...recorded };
  return factsOf({ ...said, isFile: () => !isFolder, isDirectory: () => isFolder }, platform);
}

/** A computer made of recorded listings. Folders exist because files are in them. */
export function fakeHost(given: Pick<Host, 'platform' | 'env' | 'home'> & { files: Files }): Host {
  const { platform, env, home } = given;
  const paths = pathsOf({ platform });
  const same = (path: string) => {
    const normal = paths.normalize(path).replace(/(?<=.)[\\/]$/, '');
    return platform === 'win32' ? normal.toLowerCase() : normal;
  };
  const files = new Map(Object.entries(given.files).map(([path, facts]) => [same(path), { path, facts }]));
  const children = new Map<string, Set<string>>();
  for (const { path } of files.values()) {
    for (let at = path; paths.dirname(at) !== at; at = paths.dirname(at)) {
      const inside = children.get(same(paths.dirname(at))) ?? new Set();
      children.set(same(paths.dirname(at)), inside.add(paths.basename(at)));
    }
  }
  const find = (path: string): { path: string; facts: Recorded } | undefined => {
    const found = files.get(same(path));
    return found?.facts.leadsTo === undefined ? found : find(found.facts.leadsTo);
  };
  return {
    platform,
    env,
    home,
    list: async (path) => [...(children.get(same(path)) ?? [])],
    stat: async (path) => {
      const found = find(path);
      if (found) return factsOn(platform, found.facts);
      return children.has(same(path)) ? factsOn(platform, { isFolder: true }) : undefined;
    },
    realPath: async (path) => find(path)?.path ?? (children.has(same(path)) ? path : undefined),
    head: async (path, bytes) => find(path)?.facts.head?.slice(0, bytes),
    which: async (name, folders, endings) =>
      folders.flatMap((folder) =>
        [...(platform !== 'win32' || name.includes('.') ? [''] : []), ...endings].flatMap((ending) => {
          const at = same(paths.join(folder, name + ending));
          const starts = platform !== 'win32' || endings.some((one) => at.endsWith(one));
          const { path, facts } = files.get(at) ?? {};
          return path !== undefined && starts && (facts?.mode ?? 0o111) & 0o111 ? [path] : [];
        }),
      ),
  };
}

/** The same for every path: a plain program. */
export const programs = (...paths: readonly string[]): Files =>
  Object.fromEntries(paths.map((path) => [path, {}]));
