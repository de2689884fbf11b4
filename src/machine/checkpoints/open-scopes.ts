import { relative } from 'node:path';
import type { Workspace } from '../../core/tool.ts';
import { byteName, type ByteName } from './changed-files.ts';
import type { Opened } from '../paths/opened.ts';
import { rooted } from '../paths/workspace.ts';
import type { WorkTree } from './work-tree.ts';

/** Where a name lies: in an open folder, by the rest of the name. */
export interface ScopedName {
  readonly path: string;
  readonly rest: ByteName;
}

/** The parts of a work tree that are open to the model, held open. Whoever opened them closes them. */
export interface OpenScopes {
  /** Undefined for a name in none of them. */
  scopeOf(name: ByteName): ScopedName | undefined;
  close(): Promise<void>;
}

/** Throws what the gate throws. */
export async function openScopes({ top, scopes }: WorkTree, workspace: Workspace): Promise<OpenScopes> {
  const open: { at: ByteName; opened: Opened }[] = [];
  const close = async () => {
    for (const { opened } of open.splice(0)) await opened.handle.close();
  };
  try {
    for (const scope of scopes) {
      open.push({ at: byteName(relative(top, scope)), opened: await rooted(workspace).openFolder(scope) });
    }
  } catch (error) {
    await close();
    throw error;
  }
  return {
    scopeOf(name) {
      const found = open.find(({ at }) => isAtOrBelow(name, at));
      if (!found) return undefined;
      const rest = found.at === '' ? name : name.slice(found.at.length + 1);
      return { path: found.opened.stablePath, rest };
    },
    close,
  };
}

export const isAtOrBelow = (name: ByteName, place: ByteName): boolean =>
  place === '' || name === place || name.startsWith(`${place}/`);
