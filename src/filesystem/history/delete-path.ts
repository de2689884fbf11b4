import * as z from 'zod';
import { flag, path } from '../../core/params.ts';
import { defineTool, type PlanContext, type Tool, type ToolResult } from '../../core/tool.ts';
import type { Facts } from '../../machine/history/entry.ts';
import { refuseDeleting } from '../../machine/paths/protected-trees.ts';
import { shownPath } from '../../machine/paths/shown-path.ts';
import { rooted } from '../../machine/paths/workspace.ts';
import { planChange } from '../plan-change.ts';
import type { Services } from '../services.ts';

const params = z.strictObject({
  path: path('File, link or folder'),
  dry_run: flag('Only say what would go'),
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
  given: z.output<typeof params>,
  { workspace, signal }: PlanContext,
  services: Services,
): Promise<ToolResult> {
  const gate = rooted(workspace);
  const place = await gate.openPlace(given.path, { follow: false });
  try {
    const look = async (found: Facts) => {
      if (found.kind !== 'folder') return;
      gate.refuseWhole(given.path);
      await refuseDeleting({ at: place.at, path: place.path, given: given.path });
    };
    const history = await services.history();
    const { id, before } = await history.remove(
      place,
      { kind: 'delete', dryRun: given.dry_run, signal },
      look,
    );
    if (!given.dry_run) services.known.forget(place.path);
    const done = given.dry_run ? 'Would delete' : 'Deleted';
    const change = given.dry_run ? '' : ` (change ${id})`;
    const text = `${done} ${shownPath(given.path)}${what(before)}${change}`;
    return { content: [{ type: 'text', text }] };
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
