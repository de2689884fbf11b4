import { lstatSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { isInside } from '../paths/inside.ts';
import type { Change } from './changes.ts';
import type { Look, RunItem } from './look-through.ts';
import { sha256 } from './run-file.ts';
import type { Places, RunFile, TrustState } from './trust.ts';
import { realOf } from './where-to.ts';

/** What people are shown of it. */
export const shownOf = ({ path, size, what, text }: RunItem): RunFile => ({
  path,
  size,
  what,
  ...(text !== undefined && { text }),
});

/** The real folders of places: of a file the one it is in, of what is not there the nearest one that is. */
export function foldersOf(places: Places): string[] {
  return [places].flat().map((place) => {
    for (let here = place; ; here = dirname(here)) {
      const real = realOf(here);
      if (real !== undefined && statSync(real, { throwIfNoEntry: false })?.isDirectory()) return real;
      if (dirname(here) === here) return here;
    }
  });
}

/**
 * The folder that CMake has made in a project, in which a folder lies that is not looked into as part of the project: each
 * configuration changes it. All that it runs is in there, so it can be looked into as a whole of its own.
 */
export function buildFolder(project: string, folder: string, { folders }: Look): string | undefined {
  if (folders.has(folder)) return undefined;
  for (let here = folder; here !== project && isInside(here, project); here = dirname(here))
    if (lstatSync(join(here, 'CMakeCache.txt'), { throwIfNoEntry: false })) return here;
  return undefined;
}

/** The state of a project together with that of build folders in it. */
export function withFolders(
  state: TrustState,
  project: string,
  apart: readonly { readonly folder: string; readonly look: Look }[],
): TrustState {
  const named = apart.map(({ folder, look }) => ({
    name: relative(project, folder).replaceAll('\\', '/'),
    look,
  }));
  const files = named.flatMap(({ name, look }) =>
    look.items.map((item) => ({ ...shownOf(item), path: `${name}/${item.path}` })),
  );
  const told = (of: 'missed' | 'doubts', before = '') =>
    [before, ...named.flatMap(({ name, look }) => look[of].map((line) => `${name}: ${line}`))]
      .filter((line) => line !== '')
      .join('; ');
  const [incomplete, untrustable] = [told('missed', state.incomplete), told('doubts', state.untrustable)];
  const added = files.map(({ path, text }): Change => ({
    path,
    how: 'added',
    ...(text !== undefined && { after: text }),
  }));
  return {
    ...state,
    trusted: false,
    apart: named.map(({ name }) => name),
    digest: sha256(JSON.stringify([state.digest, ...named.map(({ name, look }) => [name, look.digest])])),
    files: state.trusted ? files : [...state.files, ...files],
    // Where changes are shown, nothing else is.
    changes: state.changes.length === 0 ? [] : [...state.changes, ...added],
    ...(incomplete !== '' && { incomplete }),
    ...(untrustable !== '' && { untrustable }),
  };
}
