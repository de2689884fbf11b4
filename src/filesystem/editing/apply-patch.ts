import * as z from 'zod';
import { also, unlisted } from '../../core/accepted.ts';
import { flag } from '../../core/params.ts';
import type { PlanContext } from '../../core/tool.ts';
import { changeTool, namesOf } from '../change-tool.ts';
import { encodeText } from '../text/file-text.ts';
import { changeTogether, type Step } from './change-together.ts';
import { manyChanged } from './change-text.ts';
import { changingBy } from './change-files.ts';
import { editing } from './edit-file.ts';
import { refuseMask } from './refusals.ts';
import { parsePatch, type FilePatch } from './patch-text.ts';

const params = z.strictObject({
  input: also(
    z.string().min(1).max(5_000_000).describe('*** Begin Patch … *** Update File: src/a.ts … *** End Patch'),
    'patch diff patch_text patchText',
  ),
  dry_run: unlisted(flag('Only show what would change')),
});

const pathsIn = ({ input }: z.output<typeof params>): string[] =>
  parsePatch(input).flatMap(({ path, to }) => (to === undefined ? [path] : [path, to]));

/** The form of edits that some models know best, by the same engine: all of a patch, or none. */
export const applyPatch = changeTool({
  name: 'apply_patch',
  title: 'Apply patch',
  description:
    'Adds, updates, moves and deletes files as a patch says, all or none: *** Begin Patch, *** Update File: PATH, ' +
    'lines with blank, + and -.',
  params,
  meant: (given) => given,
  subject: (given) => `patch ${namesOf(pathsIn(given))}`,
  paths: pathsIn,
  async change(given, context, services) {
    const isDry = given.dry_run;
    const wanted = parsePatch(given.input).flatMap((file) => stepsOf(file, context));
    const steps = await changeTogether(wanted, changingBy('patch', given, services), context);
    return manyChanged({ done: isDry ? 'Would patch' : 'Patched', steps, isDry });
  },
});

function stepsOf({ path, to, content, edits }: FilePatch, context: PlanContext): Step[] {
  if (content !== undefined)
    return [
      {
        path,
        replacesAll: true,
        propose: async (before, known) => {
          refuseMask('input', content, before);
          return encodeText(content, before, known);
        },
      },
    ];
  if (!edits) return [{ path, isRemoved: true }];
  return [
    ...(edits.length > 0 ? [editing(path, edits, {}, context)] : []),
    ...(to === undefined ? [] : [{ path, movesTo: to }]),
  ];
}
