import { join } from 'node:path';
import * as z from 'zod';
import { flag, list, path } from '../../core/params.ts';
import { defineTool, type PlanContext, type Tool, type ToolResult } from '../../core/tool.ts';
import { headAndTail, presentable } from '../../machine/presentable.ts';
import { shownPath } from '../../machine/paths/shown-path.ts';
import type { TreeChange } from '../../machine/history/bring-back.ts';
import { nameInRoots } from '../name-in-roots.ts';
import { planChange } from '../plan-change.ts';
import type { Services } from '../services.ts';

/** As many as a model can use; the counts tell the rest. */
const mostShown = 100;
const mostLeft = 20;
const diffCharacters = 8_000;

const params = z.strictObject({
  checkpoint: z
    .string()
    .regex(/^c_[0-9a-f]{8}$/, 'expected an id such as c_1a2b3c4d')
    .describe('Its id'),
  paths: list(path('File or folder'), 'Only these'),
  dry_run: flag('Only tell what would be done'),
});

/** Makes the files of a work tree what they were when a checkpoint was taken. */
export const restoreCheckpoint = (services: Services): Tool =>
  defineTool({
    name: 'restore_checkpoint',
    program: 'files',
    title: 'Restore checkpoint',
    description:
      'Bring the files of a work tree back to a checkpoint; files made since are removed. Ignored files, nested repositories, branch, index and history stay. The present state is kept first, as a checkpoint that undoes this.',
    effects: ['write'],
    params,
    plan: (given, context) => {
      const dryRun = async () => ({
        result: await restoreIn({ ...given, dry_run: true }, context, services),
      });
      return planChange(
        { verb: 'restore', given, paths: given.paths, names: given.checkpoint, dryRun },
        context,
      );
    },
    run: ({ work: given }, context) => restoreIn(given, context, services),
  });

async function restoreIn(
  { checkpoint, paths, dry_run: dryRun }: z.output<typeof params>,
  { workspace, signal }: PlanContext,
  services: Services,
): Promise<ToolResult> {
  const { checkpoint: checkpoints } = await services.history();
  const { top, undo, done, left, diff } = await checkpoints.restore(
    checkpoint,
    { paths, dryRun },
    workspace,
    signal,
  );
  const shown = (name: string) => shownPath(nameInRoots(join(top, name), workspace.roots));
  const many = (count: number) => (count === 1 ? '1 file' : `${count.toLocaleString('en')} files`);
  const first =
    done.length === 0
      ? `No file had to be changed for ${checkpoint}.`
      : `${dryRun ? 'Would restore' : 'Restored'} ${checkpoint}: ${many(done.length)}${dryRun ? '' : ` (restore ${undo} to undo this)`}`;
  const lines = [
    first,
    ...done.slice(0, mostShown).map((change) => `${doneTo(change)} ${shown(change.name)}`),
    ...(done.length > mostShown ? [`… and ${many(done.length - mostShown)} more`] : []),
    ...left.slice(0, mostLeft).map(({ name, why }) => `left ${shown(name)}: ${presentable(why)}`),
    ...(left.length > mostLeft ? [`… and ${many(left.length - mostLeft)} more left`] : []),
    ...(diff === '' ? [] : [headAndTail(presentable(diff), diffCharacters)]),
  ];
  return { content: [{ type: 'text', text: lines.join('\n') }] };
}

const doneTo = ({ from, to }: TreeChange) => (to ? (from ? 'changed' : 'made') : 'removed');
