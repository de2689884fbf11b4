import { lstat } from 'node:fs/promises';
import * as z from 'zod';
import { ToolcribError } from '../../core/errors.ts';
import { flag } from '../../core/params.ts';
import { defineTool, type PlanContext, type Tool, type ToolResult } from '../../core/tool.ts';
import { Conflict, type Undone } from '../../machine/history/undo.ts';
import { shownPath } from '../../machine/paths/shown-path.ts';
import { rooted } from '../../machine/paths/workspace.ts';
import { diffAfterwards } from '../diff/unified-diff.ts';
import { renamed } from './move-path.ts';
import { nameInRoots } from '../name-in-roots.ts';
import { planChange } from '../plan-change.ts';
import type { Services } from '../services.ts';
import { versionOf } from '../known-files.ts';

const params = z.strictObject({
  change: z.string().max(100).describe('Its id: edit_file and the like return it, list_changes lists it'),
  dry_run: flag('Only show what would change'),
});

/** Takes one change back; that is a change itself and can be undone. */
export const undoChange = (services: Services): Tool =>
  defineTool({
    name: 'undo_change',
    program: 'files',
    title: 'Undo change',
    description:
      'Take back a change made by edit_file, write_file, move_path, delete_path or undo_change itself. Refuses when the file has changed since.',
    effects: ['write'],
    params,
    plan: (given, context) => {
      const dryRun = async () => ({ result: await undoIn({ ...given, dry_run: true }, context, services) });
      return planChange(
        { verb: 'undo', given, paths: [], names: given.change, dryRun, itself: true },
        context,
      );
    },
    run: ({ work: given }, context) => undoIn(given, context, services),
  });

async function undoIn(
  { change: id, dry_run: isDry }: z.output<typeof params>,
  { workspace, signal }: PlanContext,
  services: Services,
): Promise<ToolResult> {
  const history = await services.history();
  const options = { workspace: rooted(workspace), dryRun: isDry, signal };
  const undone = await history.undo(id, options).catch(async (error: unknown) => {
    throw error instanceof Conflict ? await stale(nameInRoots(error.path, workspace.roots), error) : error;
  });
  const name = nameInRoots(undone.undone.path, workspace.roots);
  await relearn(undone, services);
  const { change, undone: old, notes, was, is } = undone;
  const diff = await diffOf(name, { was, is });
  const done = `${isDry ? 'Would take' : 'Took'} back the ${old.kind} of ${shownPath(name)}`;
  const counts = diff ? `: +${diff.added} -${diff.removed}` : '';
  const made = change ? ` (change ${change.id})` : '';
  const said = notes.map((note) => `\n[${note.replace(/\.$/, '')}]`).join('');
  const moved = old.to === undefined ? '' : `\n${renamed(nameInRoots(old.to, workspace.roots), name)}`;
  return {
    content: [
      { type: 'text', text: `${done}${counts}${made}${said}${moved}${diff ? `\n${diff.text}` : ''}` },
    ],
  };
}

/** A file that was known to the caller is so still: it is what it was, and the answer shows how it got there. */
async function relearn({ undone, change, is }: Undone, { known }: Services): Promise<void> {
  // A dry run changes nothing.
  if (!change) return;
  const before = known.get(undone.path);
  for (const path of [undone.path, undone.to]) if (path !== undefined) known.forget(path);
  const hash = change.after?.kind === 'file' ? change.after.hash : undefined;
  if (!before || undone.to !== undefined || hash === undefined) return;
  const stat = await lstat(undone.path).catch(() => undefined);
  if (stat)
    known.remember(undone.path, {
      stat: versionOf(stat),
      hash,
      bytes: is,
      encoding: before.encoding,
    });
}

async function diffOf(path: string, { was, is }: { was?: Buffer | undefined; is?: Buffer | undefined }) {
  return was || is ? diffAfterwards(was, is, { path }) : undefined;
}

async function stale(name: string, { message, expected, found }: Conflict): Promise<ToolcribError> {
  const diff = expected && found ? await diffAfterwards(expected, found, { path: name }) : undefined;
  return new ToolcribError(
    'STALE_FILE',
    `${shownPath(name)}: ${message}${diff ? `\nWhat changed since:\n${diff.text}` : ''}`,
    'Undo what came after it first (list_changes), or change the file with edit_file.',
  );
}
