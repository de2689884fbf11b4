import { join } from 'node:path';
import { createBreath } from '../paths/breath.ts';
import { foldName } from '../paths/protected-paths.ts';
import { createRunsFinder } from '../trust/find-runs.ts';
import { createFolders } from '../trust/folder-entries.ts';

/** The folders below one (by its real path) in which there is a file of that name. */
export type FindFiles = (root: string) => Promise<readonly string[]>;

/** As with trust: see look-through.ts. */
const mostEntries = 100_000;
const deepest = 100;

/**
 * Looks through folders again and again; one that has not changed is not listed again. Those that hold what was fetched or made
 * are left out, and links are not followed. Level by level, so that the folders further up come before any bound.
 */
export function createFindFiles(name: string): FindFiles {
  const [folders, finder] = [createFolders(), createRunsFinder()];
  return async (root) => {
    const breathe = createBreath();
    const found: string[] = [];
    const left = [{ path: root, depth: 0 }];
    let entries = 0;
    for (const { path, depth } of left) {
      const listed = await folders.list(path, mostEntries - entries, breathe);
      if (typeof listed !== 'object') continue;
      entries += listed.count;
      if (listed.files.includes(name) || listed.links.includes(name)) found.push(path);
      if (depth < deepest)
        for (const folder of listed.folders) {
          const folded = foldName(folder);
          if (folded !== '.git' && !finder.isLeftOut(folded))
            left.push({ path: join(path, folder), depth: depth + 1 });
        }
      await breathe();
    }
    return found;
  };
}
