import * as z from 'zod';
import { also, unlisted } from '../../core/accepted.ts';
import { flag, path } from '../../core/params.ts';
import { defineTool, type PlanContext, type Tool, type ToolResult } from '../../core/tool.ts';
import type { Change, Facts } from '../../machine/history/entry.ts';
import { refuseDeleting } from '../../machine/paths/protected-trees.ts';
import { shownPath } from '../../machine/paths/shown-path.ts';
import { rooted } from '../../machine/paths/workspace.ts';
import { planChange } from '../plan-change.ts';
import type { Services } from '../services.ts';

const params = z.strictObject({
  path: also(path('File, link or folder: src/a.ts'), 'file_path target target_file file'),
  dry_run: unlisted(flag('Only say what would go')),
});

/** Moves a file, link or folder into the journal. */
export const deletePath = (services: Services): Tool =>
  defineTool({
    name: 'delete_path',
    program: 'files',
    title: 'Delete',
    description:
      'Delete a file, a link (not what it names) or a folder with all that is in it. undo brings it back.',
    effects: ['write'],
    params,
    plan: (given, context) => {
      const dryRun = async () => ({ result: await deleteIn({ ...given, dry_run: true }, context, services) });
      return planChange({ verb: 'delete', given, paths: [given.path], dryRun, itself: true }, context);
    },
    run: ({ work: given }, context) => deleteIn(given, context, services),
  });

async function deleteIn(
  { path: at, dry_run: dryRun }: z.output<typeof params>,
  context: PlanContext,
  services: Services,
): Promise<ToolResult> {
  const { id, before } = await removePath(at, { kind: 'delete', dryRun }, context, services);
  const text = `${dryRun ? 'Would delete' : 'Deleted'} ${shownPath(at)}${what(before)}`;
  return { content: [{ type: 'text', text: dryRun ? text : `${text} (change ${id})` }] };
}

/** Moves what is at a path into the history. Throws what the gate and the history throw; then nothing has changed. */
export async function removePath(
  at: string,
  about: { readonly kind: string; readonly dryRun: boolean },
  { workspace, signal }: PlanContext,
  services: Services,
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
    const change = await history.remove(place, { ...about, signal }, look);
    if (!about.dryRun) services.known.forget(place.path);
    return change;
  } finally {
    await place.folder.handle.close();
  }
}

/** What is or was there, in some words. */
function what(found: Facts | undefined): string {
  if (!found) return '';
  const bytes = `${found.size.toLocaleString('en')} bytes`;
  if (found.kind === 'folder') {
    const entries =
      found.entries === undefined ? 'very many entries' : `${found.entries.toLocaleString('en')} entries`;
    return `, a folder with ${entries}, ${bytes}`;
  }
  return found.kind === 'file' ? `, ${bytes}` : `, a ${found.kind === 'link' ? 'link' : 'special file'}`;
}
