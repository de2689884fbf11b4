import { join } from 'node:path';
import type { RunAction } from '../../core/discoverer.ts';
import { ToolcribError } from '../../core/errors.ts';
import type { Workspace } from '../../core/tool.ts';
import { rooted } from '../paths/workspace.ts';

interface Where {
  readonly folder: string;
  readonly workspace: Workspace;
}

/** Whether a call gives the program a command or code of its own, as far as the action's data can tell. */
export async function runsAnything(
  { runsAnything: given }: RunAction,
  values: Readonly<Record<string, unknown>>,
  where: Where,
): Promise<boolean> {
  if (given === undefined || given === true) return given === true;
  for (const value of [values[given.param]].flat()) {
    if (value === undefined || given.usual.test(String(value))) continue;
    const sets = given.files?.(String(value)) ?? [];
    const found = await Promise.all(sets.map((files) => areThere(files, where)));
    if (!found.includes(true)) return true;
  }
  return false;
}

/** Whether all of these are files of the folder, under these very names: a link may lead to code of the machine. */
async function areThere(files: readonly string[], { folder, workspace }: Where): Promise<boolean> {
  try {
    for (const file of files) {
      const { handle, path } = await rooted(workspace).openFile(join(folder, file));
      await handle.close();
      if (path !== join(folder, file)) return false;
    }
    return true;
  } catch (error) {
    if (error instanceof ToolcribError) return false;
    throw error;
  }
}
