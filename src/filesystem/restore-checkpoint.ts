import * as z from 'zod';
import { flag, list, path } from '../core/params.ts';
import { defineTool, type Tool } from '../core/tool.ts';
import { shownName } from '../machine/changed-files.ts';
import { presentable } from '../machine/presentable.ts';
import { shownPath } from '../machine/shown-path.ts';
import type { TreeChange } from '../machine/tree-changes.ts';
import { pathFor } from './search-scope.ts';
import type { Services } from './services.ts';

/** As many as a model can use; the counts tell the rest. */
const mostShown = 100;
const mostLeft = 20;

const params = z.strictObject({
  checkpoint: z
    .string()
    .regex(/^c_[0-9a-f]{8}$/, 'expected an id such as c_1a2b3c4d')
    .describe('Its id'),
  paths: list(path('File or folder'), 'Only these'),
  dry_run: flag('Only tell what would be done'),
});

const file = z.object({ path: z.string(), done: z.enum(['changed', 'made', 'removed']) });

const result = z.object({
  undo: z.string().describe('Checkpoint of what was there before'),
  files: z.array(file),
  total: z.int().describe('Files in all'),
  left: z
    .array(z.object({ path: z.string(), why: z.string() }))
    .optional()
    .describe('Not done'),
  left_total: z.int().optional(),
  notes: z.array(z.string()).optional(),
});

/** Makes the files of a work tree what they were when a checkpoint was taken. */
export const restoreCheckpoint = (services: Services): Tool =>
  defineTool({
    name: 'restore_checkpoint',
    program: 'files',
    title: 'Restore checkpoint',
    description:
      'Bring the files of a work tree back to a checkpoint; files made since are removed. Ignored files, nested repositories and submodules are left alone; so are branch, index and history. The present state is kept first: `undo` restores it.',
    effects: ['write'],
    params,
    result,
    async call({ checkpoint, paths, dry_run: dryRun }, { workspace, signal }) {
      const checkpoints = await services.checkpoints();
      const { top, undo, done, left, notes } = await checkpoints.restore(
        checkpoint,
        { paths, dryRun },
        workspace,
        signal,
      );
      const shown = (name: string) => shownPath(pathFor(shownName(name), top, workspace.roots));
      return {
        data: {
          undo,
          files: done
            .slice(0, mostShown)
            .map((change) => ({ path: shown(change.name), done: doneTo(change) })),
          total: done.length,
          ...(left.length > 0
            ? {
                left: left
                  .slice(0, mostLeft)
                  .map(({ name, why }) => ({ path: shown(name), why: presentable(why) })),
                left_total: left.length,
              }
            : {}),
          ...(notes.length > 0 ? { notes: [...notes] } : {}),
        },
      };
    },
  });

const doneTo = ({ from, to }: TreeChange) => (to ? (from ? 'changed' : 'made') : 'removed');
