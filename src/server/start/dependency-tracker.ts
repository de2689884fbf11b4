import type { Host } from '../../machine/host.ts';
import {
  digestOfNames,
  digestOfVariables,
  folderStampOf,
  isFolder,
  stampOf,
  type StartCache,
} from './start-cache.ts';

/**
 * A host that notes what it is asked for, each time before it looks: what changes meanwhile is seen as a
 * change.
 */
export interface DependencyTracker {
  readonly host: Host;
  /** Notes a file that others read. */
  noteFile(path: string): void;
  /** Notes a folder whose content does not matter. */
  noteFolder(path: string): void;
  /** All that was noted; nothing is noted any more. */
  seen(): Omit<StartCache, 'start' | 'keptAt' | 'results'>;
}

/** Variables on which the places of settings files depend. */
const ofFolders = ['HOME', 'USERPROFILE', 'APPDATA', 'XDG_CONFIG_HOME', 'XDG_STATE_HOME'];

export function trackDependencies(host: Host): DependencyTracker {
  const names = new Set(ofFolders);
  const stamps: Record<string, string> = {};
  const folders: Record<string, string> = {};
  const lists: Record<string, number> = {};
  let copied: string | symbol | undefined;
  let isSeen = false;
  const noteFile = (path: string) => {
    if (!isSeen) stamps[path] ??= stampOf(path);
  };
  const noteFolder = (path: string) => {
    if (!isSeen) folders[path] ??= folderStampOf(path);
  };
  const noting =
    <A extends unknown[], R>(look: (path: string, ...more: A) => R) =>
    (path: string, ...more: A) => {
      // What is in a folder matters to who lists it, and home folders change all the time.
      if (isFolder(path)) noteFolder(path);
      else noteFile(path);
      return look(path, ...more);
    };
  return {
    host: {
      ...host,
      env: new Proxy(host.env, {
        get(env, name) {
          if (typeof name !== 'string') return undefined;
          if (!isSeen && name !== copied) names.add(name);
          copied = undefined;
          return env[name];
        },
        // Whoever copies all of them looks at the property of each first, and depends on none.
        getOwnPropertyDescriptor(env, name) {
          copied = name;
          return Reflect.getOwnPropertyDescriptor(env, name);
        },
      }),
      async list(folder: string) {
        noteFile(folder);
        const found = await host.list(folder);
        if (!isSeen) lists[folder] ??= digestOfNames(found);
        return found;
      },
      stat: noting(host.stat),
      realPath: noting(host.realPath),
      head: noting(host.head),
    },
    noteFile,
    noteFolder,
    seen() {
      isSeen = true;
      const variables = { names: [...names], digest: digestOfVariables([...names]) };
      return { variables, stamps, names: lists, folders };
    },
  };
}
