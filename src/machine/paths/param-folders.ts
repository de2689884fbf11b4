import { realpathSync } from 'node:fs';
import { dirname, isAbsolute, join, resolve, sep } from 'node:path';
import type * as z from 'zod';
import { pathKind } from '../../core/params.ts';
import type { Workspace } from '../../core/tool.ts';

/** Where a call works, and what its path parameters name, all of it by absolute paths. */
export interface Places {
  readonly folder: string;
  readonly touches: readonly string[];
}

/**
 * Where a path is whose folder exists, a link at its end not followed; in one question to the system: waiting for another
 * thread takes ten times as long.
 */
function realPath(home: string, path: string): string | undefined {
  // Not resolve(): it would take `link/..` away before the link was followed.
  const absolute = isAbsolute(path) ? path : home + sep + path;
  const name = absolute.slice(absolute.lastIndexOf(sep) + 1);
  if (name === '' || name === '.' || name === '..') return undefined;
  try {
    return join(realpathSync.native(dirname(absolute)), name);
  } catch {
    // Not there yet, or written in a way that the gate knows: `~/`.
    return undefined;
  }
}

/**
 * What the path parameters of a call name, for which a project may have settings of its own; the first root when there are none,
 * and nothing when there is no root. What cannot be found is left to the tool to refuse.
 */
export async function placesOf(
  params: z.ZodObject,
  values: Readonly<Record<string, unknown>>,
  workspace: Workspace,
): Promise<Places | undefined> {
  const [home] = workspace.roots;
  if (home === undefined) return undefined;
  const touches = new Set<string>();
  for (const [name, schema] of Object.entries(params.shape)) {
    if (!pathKind(schema as z.ZodType)) continue;
    for (const path of [values[name]].flat()) {
      if (typeof path !== 'string') continue;
      // At the top of the root there is no link on the way; what it is itself is looked at with the settings.
      const near = resolve(home, path);
      const isNear = near === home || dirname(near) === home;
      touches.add(
        isNear ? near : (realPath(home, path) ?? (await workspace.resolve(path).catch(() => home))),
      );
    }
  }
  const [first = home] = touches;
  return { folder: dirname(first) === home ? home : first, touches: [...touches] };
}
