import { dirname, resolve } from 'node:path';
import type * as z from 'zod';
import { pathKind } from '../../core/params.ts';
import type { Workspace } from '../../core/tool.ts';

/**
 * The real absolute paths that the path parameters of a call name, in which a project may have settings of its own; the
 * first root when there are none, and nothing when there is no root. What cannot be found is left to the tool to refuse.
 */
export async function foldersOf(
  params: z.ZodObject,
  values: Readonly<Record<string, unknown>>,
  workspace: Workspace,
): Promise<readonly string[]> {
  const { roots } = workspace;
  const [home] = roots;
  if (home === undefined) return [];
  const found = new Set<string>();
  for (const [name, schema] of Object.entries(params.shape)) {
    if (!pathKind(schema as z.ZodType)) continue;
    for (const path of [values[name]].flat()) {
      if (typeof path !== 'string') continue;
      // What lies at the top of the root has no folder in between; links are looked at by the tool.
      const near = dirname(resolve(home, path)) === home;
      found.add(near ? home : await workspace.resolve(path).catch(() => home));
    }
  }
  return found.size === 0 ? [home] : [...found];
}
