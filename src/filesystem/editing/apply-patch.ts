import * as z from 'zod';
import { also, unlisted } from '../../core/accepted.ts';
import { flag } from '../../core/params.ts';
import { defineTool, type PlanContext, type Tool } from '../../core/tool.ts';
import { planChange } from '../plan-change.ts';
import type { Services } from '../services.ts';
import { encodeText } from '../text/encode.ts';
import { changeTogether, prepareAll, type Step } from './change-together.ts';
import { manyChanged } from './change-text.ts';
import { changingBy, editing } from './edit-file.ts';
import { refuseMask } from './overwrite.ts';
import { parsePatch, type FilePatch } from './patch-text.ts';

const params = z.strictObject({
  input: also(
    z.string().min(1).max(5_000_000).describe('*** Begin Patch … *** Update File: src/a.ts … *** End Patch'),
    'patch diff patch_text patchText',
  ),
  dry_run: unlisted(flag('Only show what would change')),
});
type Params = z.output<typeof params>;

/** The form of edits that some models know best, by the same engine: all of a patch, or none. */
export const applyPatch = (services: Services): Tool =>
  defineTool({
    name: 'apply_patch',
    program: 'files',
    title: 'Apply patch',
    description:
      'Adds, updates, moves and deletes files as a patch says, all or none: *** Begin Patch, *** Update File: PATH, ' +
      'lines with blank, + and -.',
    effects: ['write'],
    params,
    plan: (given, context) => {
      const paths = parsePatch(given.input).flatMap((file) =>
        'to' in file && file.to !== undefined ? [file.path, file.to] : [file.path],
      );
      const [first = '', ...others] = paths;
      const names = `${first}${others.length > 0 ? ` and ${others.length} more` : ''}`;
      const dryRun = () => applyAll({ ...given, dry_run: true }, context, services);
      return planChange({ verb: 'patch', given, paths: [...new Set(paths)], names, dryRun }, context);
    },
    run: async ({ work: given }, context) => (await applyAll(given, context, services)).result,
  });

async function applyAll(given: Params, context: PlanContext, services: Services) {
  const changing = changingBy('patch', given, services);
  const steps = parsePatch(given.input).flatMap((file) => stepsOf(file, context));
  if (!given.dry_run)
    return manyChanged({ done: 'Patched', steps: await changeTogether(steps, changing, context) });
  return manyChanged({
    done: 'Would patch',
    steps: await prepareAll(steps, changing, context),
    hasDiffs: true,
  });
}

function stepsOf(file: FilePatch, context: PlanContext): Step[] {
  const { path } = file;
  if (file.does === 'delete') return [{ path, isRemoved: true }];
  if (file.does === 'add')
    return [
      {
        path,
        replacesAll: true,
        propose: (before, known) => {
          refuseMask('input', file.content, before);
          return encodeText(file.content, before, known);
        },
      },
    ];
  const { edits, to } = file;
  return [
    ...(edits.length > 0 ? [editing(path, edits, {}, context)] : []),
    ...(to === undefined ? [] : [{ path, movesTo: to }]),
  ];
}
