import * as z from 'zod';
import { ToolcribError } from '../core/errors.ts';
import { flag } from '../core/params.ts';
import { defineTool, type Tool } from '../core/tool.ts';
import type { Change, Undone } from '../machine/file-changes.ts';
import { shownPath } from '../machine/shown-path.ts';
import { rooted } from '../machine/workspace.ts';
import { nameInRoots } from './name-in-roots.ts';
import type { Services } from './services.ts';
import { unifiedDiff } from './unified-diff.ts';

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
    async call({ change: id, dry_run: isDry }, { workspace, signal }) {
      const changes = await services.changes();
      const undone = await changes.undo(id, { workspace: rooted(workspace), dryRun: isDry, signal });
      const name = nameInRoots(undone.undone.path, workspace.roots);
      if (undone.state === 'conflict') throw await conflict(name, undone);
      for (const path of [undone.undone.path, undone.undone.to]) if (path) services.known.forget(path);
      const { change, undone: old, notes, was, is } = undone;
      const diff = await diffOf(name, { was, is });
      const done = `${isDry ? 'Would take' : 'Took'} back the ${old.kind} of ${shownPath(name)}`;
      const counts = diff ? `: +${diff.added} -${diff.removed}` : '';
      const made = change ? ` (change ${change.id})` : '';
      const said = notes.map((note) => `\n[${note.replace(/\.$/, '')}]`).join('');
      const moved = old.to === undefined ? '' : renamed(old, workspace.roots);
      return {
        content: [
          { type: 'text', text: `${done}${counts}${made}${said}${moved}${diff ? `\n${diff.text}` : ''}` },
        ],
      };
    },
  });

const renamed = ({ path, to = '' }: Change, roots: readonly string[]): string =>
  `\nrename from ${shownPath(nameInRoots(to, roots))}\nrename to ${shownPath(nameInRoots(path, roots))}`;

async function diffOf(path: string, { was, is }: { was?: Buffer | undefined; is?: Buffer | undefined }) {
  return was || is ? unifiedDiff(was, is, { path }) : undefined;
}

async function conflict(
  name: string,
  { why, expected, found }: Extract<Undone, { state: 'conflict' }>,
): Promise<ToolcribError> {
  const diff = expected && found ? await unifiedDiff(expected, found, { path: name }) : undefined;
  return new ToolcribError(
    'STALE_FILE',
    `${shownPath(name)}: ${why}${diff ? `\nWhat changed since:\n${diff.text}` : ''}`,
    'Undo what came after it first (list_changes), or change the file with edit_file.',
  );
}
