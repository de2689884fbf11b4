import type { FileFacts, Host } from '../../src/machine/host.ts';
import { pathsOf } from '../../src/machine/host.ts';

/** What is recorded of a file: nothing but its name, or what differs from a plain program of our own. */
export interface Recorded extends Partial<FileFacts> {
  /** The first bytes of it. */
  readonly head?: string;
  /** What it leads to, when it is a symbolic link. */
  readonly leadsTo?: string;
}

export type Files = Readonly<Record<string, Recorded>>;

const plain: FileFacts = {
  isFile: true,
  isFolder: false,
  mode: 0o100755,
  size: 100_000,
  mtimeMs: 1_700_000_000_000,
};
const folder: FileFacts = { ...plain, isFile: false, isFolder: true, mode: 0o040755, size: 64 };

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
      if (found)
        return {
          ...(found.facts.isFolder ? folder : plain),
          ...(platform === 'win32' && { mode: 0 }),
          ...found.facts,
        };
      return children.has(same(path)) ? folder : undefined;
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
