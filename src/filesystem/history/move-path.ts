import { lstat } from 'node:fs/promises';
import { basename, sep } from 'node:path';
import * as z from 'zod';
import { ToolcribError } from '../../core/errors.ts';
import { also, unlisted } from '../../core/accepted.ts';
import { flag, path } from '../../core/params.ts';
import type { PlanContext } from '../../core/tool.ts';
import { removeMade, type Place } from '../../machine/paths/place.ts';
import { refuseMoving } from '../../machine/paths/protected-trees.ts';
import { refusal, shownPath } from '../../machine/paths/shown-path.ts';
import { rooted } from '../../machine/paths/workspace.ts';
import { changeTool } from '../change-tool.ts';
import type { Changing } from '../editing/change-files.ts';
import type { Services } from '../services.ts';

const params = z.strictObject({
  from: also(path('File, link or folder: src/a.ts'), 'source source_path old_path src path'),
  to: also(
    path('New path, or folder with / at its end'),
    'destination destination_path new_path dest dst target',
  ),
  dry_run: unlisted(flag('Only say whether it can be done')),
});

/** Moves or renames, never onto something. */
export const movePath = changeTool({
  name: 'move_path',
  title: 'Move or rename',
  description: 'Move or rename a file, link or folder. Never replaces what is there. undo takes it back.',
  params,
  meant: (given) => movedTo(given),
  subject: ({ from, to }) => `move ${from} to ${to}`,
  paths: ({ from, to }) => [from, to],
  itself: true,
  async change({ from, to, dry_run: isDry }, context, services) {
    const id = await relocatePath({ from, to }, { kind: 'move', isDry, services }, context);
    const names = `${shownPath(from)} to ${shownPath(to)}`;
    return { text: isDry ? `Would move ${names}` : `Moved ${names} (change ${id})` };
  },
});

/** As mv does: into the folder, under its name. */
export function movedTo<Given extends { readonly from: string; readonly to: string }>(given: Given): Given {
  const { from, to } = given;
  return { ...given, to: to.endsWith('/') || to.endsWith(sep) ? to + basename(from) : to };
}

/**
 * Moves what is at a path, and returns the id of the change; undefined in a dry run. Throws PATH_NOT_FOUND, and what
 * the gate and the history throw; then nothing has changed.
 */
export async function relocatePath(
  { from, to }: { readonly from: string; readonly to: string },
  { kind, isDry, services }: Omit<Changing, 'call'>,
  { workspace, signal }: PlanContext,
): Promise<string | undefined> {
  const gate = rooted(workspace);
  const source = await gate.openPlace(from, { follow: false });
  try {
    const found = await lstat(source.at).catch(() => {
      throw refusal(
        'PATH_NOT_FOUND',
        from,
        'does not exist.',
        'list_files finds files by part of their name.',
      );
    });
    if (found.isDirectory()) gate.refuseWhole(from);
    const target = await openTarget(to, gate, !isDry);
    if (!target) {
      // Its folder would be made.
      const what = found.isFile() ? 'file' : found.isSymbolicLink() ? 'link' : 'folder';
      await refuseMoving({ ...source, given: from }, { kind: what, to: await gate.resolve(to) });
      return undefined;
    }
    try {
      const history = await services.history();
      const change = await history.move(source, target, { kind, signal, dryRun: isDry });
      if (isDry) return undefined;
      moveKnown(source, target, services);
      return change.id;
    } catch (error) {
      // Also when it was refused before it was begun with.
      await removeMade(target.made);
      throw error;
    } finally {
      await target.folder.handle.close();
    }
  } finally {
    await source.folder.handle.close();
  }
}

/** Undefined where its folder would be made, and is not to be. */
async function openTarget(to: string, gate: ReturnType<typeof rooted>, make: boolean) {
  try {
    return await gate.openPlace(to, { follow: false, make });
  } catch (error) {
    if (!make && error instanceof ToolcribError && error.code === 'PATH_NOT_FOUND') return undefined;
    throw error;
  }
}

/** A file that was read is still known under its new name; its times are not as they were. */
function moveKnown(source: Place, target: Place, { known }: Services): void {
  const file = known.get(source.path);
  known.forget(source.path);
  if (file?.hash !== undefined) known.remember(target.path, file);
}
