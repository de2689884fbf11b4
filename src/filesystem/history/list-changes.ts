import * as z from 'zod';
import { limit, path } from '../../core/params.ts';
import { defineSimpleTool, type Tool } from '../../core/tool.ts';
import type { Change } from '../../machine/history/entry.ts';
import { shownPath } from '../../machine/paths/shown-path.ts';
import { nameInRoots } from '../name-in-roots.ts';
import type { Services } from '../services.ts';

const params = z.strictObject({
  path: path('Only changes of this file or in this folder').optional(),
  limit: limit(200, 20),
  cursor: z
    .string()
    .regex(/^[0-9a-z]{6,12}-[0-9a-z]{2,8}$/, 'expected the one at the end of a page before')
    .optional(),
});

/** What was changed through toolcrib, newest first. */
export const listChanges = (services: Services): Tool =>
  defineSimpleTool({
    name: 'list_changes',
    program: 'files',
    title: 'List changes',
    description:
      'List the changes made to files through this server and its like, newest first, with the ids that undo_change takes.',
    effects: ['read'],
    params,
    async call(given, { workspace }) {
      const history = await services.history();
      const only = given.path === undefined ? undefined : await workspace.resolve(given.path);
      const { changes: found, next } = history.list({
        roots: workspace.roots,
        path: only,
        limit: given.limit,
        before: given.cursor,
      });
      const lines = found.map((change) => lineOf(change, workspace.roots));
      if (lines.length === 0) lines.push('No changes.');
      if (next !== undefined) lines.push(`[more: cursor ${next}]`);
      return { content: [{ type: 'text', text: lines.join('\n') }] };
    },
  });

function lineOf(change: Change, roots: readonly string[]): string {
  const { id, at, kind, added, removed, to, undoes, undoneBy } = change;
  const time = new Date(at).toISOString().slice(0, 19).replace('T', ' ');
  const name = shownPath(nameInRoots(change.path, roots));
  const target = to === undefined ? '' : ` -> ${shownPath(nameInRoots(to, roots))}`;
  const counts = added === undefined || removed === undefined ? '' : ` +${added} -${removed}`;
  const undone = undoneBy === undefined ? '' : ` (undone by ${undoneBy})`;
  const undoing = undoes === undefined ? '' : ` of ${undoes}`;
  return `${id}  ${time}Z  ${kind}${undoing} ${name}${target}${counts}${undone}`;
}
