import { ToolcribError } from '../../core/errors.ts';
import type { Opened } from '../../machine/paths/opened.ts';
import type { RootedWorkspace } from '../../machine/paths/workspace.ts';
import type { GlobPattern } from './glob-pattern.ts';

/** The folder all matches of a pattern are in; undefined when there is none. Throws what opening throws. */
export async function openPatternFolder(
  workspace: RootedWorkspace,
  base: string,
  { folder }: GlobPattern,
): Promise<Opened | undefined> {
  if (folder === '') return workspace.openFolder(base);
  const from = await workspace.resolve(base, { kind: 'folder', mustExist: true });
  return workspace.openFolder(folder, { from }).catch((error: unknown) => {
    if (error instanceof ToolcribError && error.code === 'PATH_NOT_FOUND') return undefined;
    throw error;
  });
}
