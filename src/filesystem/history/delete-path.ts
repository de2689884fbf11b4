import * as z from 'zod';
import { also, unlisted } from '../../core/accepted.ts';
import { flag, path } from '../../core/params.ts';
import type { PlanContext } from '../../core/tool.ts';
import type { Change, Facts } from '../../machine/history/entry.ts';
import { refuseDeleting } from '../../machine/paths/protected-trees.ts';
import { shownPath } from '../../machine/paths/shown-path.ts';
import { rooted } from '../../machine/paths/workspace.ts';
import { withCommas } from '../with-commas.ts';
import { changeTool } from '../change-tool.ts';
import type { Changing } from '../editing/change-files.ts';

const params = z.strictObject({
  path: also(path('File, link or folder: src/a.ts'), 'file_path target target_file file'),
  dry_run: unlisted(flag('Only say what would go')),
});

/** Moves a file, link or folder into the history. */
export const deletePath = changeTool({
  name: 'delete_path',
  title: 'Delete',
  description:
    'Delete a file, a link (not what it names) or a folder with all that is in it. undo brings it back.',
  params,
  meant: (given) => given,
  subject: (given) => `delete ${given.path}`,
  paths: (given) => [given.path],
  itself: true,
  async change({ path: at, dry_run: isDry }, context, services) {
    const { id, before } = await removePath(at, { kind: 'delete', isDry, services }, context);
    const text = `${isDry ? 'Would delete' : 'Deleted'} ${shownPath(at)}${what(before)}`;
    return { text: isDry ? text : `${text} (change ${id})` };
  },
});

/** Moves what is at a path into the history. Throws what the gate and the history throw; then nothing has changed. */
export async function removePath(
  at: string,
  { kind, isDry, services }: Omit<Changing, 'call'>,
  { workspace, signal }: PlanContext,
): Promise<Change> {
  const gate = rooted(workspace);
  const place = await gate.openPlace(at, { follow: false });
  try {
    const look = async (found: Facts) => {
      if (found.kind !== 'folder') return;
      gate.refuseWhole(at);
      await refuseDeleting({ at: place.at, path: place.path, given: at });
    };
    const history = await services.history();
    const change = await history.remove(place, { kind, dryRun: isDry, signal }, look);
    if (!isDry) services.known.forget(place.path);
    return change;
  } finally {
    await place.folder.handle.close();
  }
}

/** What is or was there, in some words. */
function what(found: Facts | undefined): string {
  if (!found) return '';
  const bytes = `${withCommas(found.size)} bytes`;
  if (found.kind === 'folder')
    return `, a folder with ${found.entries === undefined ? 'very many' : withCommas(found.entries)} entries, ${bytes}`;
  return found.kind === 'file' ? `, ${bytes}` : `, a ${found.kind === 'link' ? 'link' : 'special file'}`;
}
