import * as z from 'zod';
import { ToolcribError } from '../../core/errors.ts';
import { flag, path } from '../../core/params.ts';
import { defineTool, type PlanContext, type Tool } from '../../core/tool.ts';
import { applyEdits } from './apply-edits.ts';
import { changeFile, planFile, versionParam, type Propose } from './change-file.ts';
import { refuseMask } from './refuse-mask.ts';
import type { Services } from '../services.ts';
import { unifiedDiff } from '../diff/unified-diff.ts';

const params = z.strictObject({
  path: path('File to change', 'file'),
  edits: z
    .array(
      z.strictObject({
        old: z.string().describe('Exact text, unique in the file; LF also matches CRLF'),
        new: z.string(),
        all: z.int().min(1).optional().describe('Replace all occurrences; this many are expected'),
      }),
    )
    .min(1)
    .max(1000)
    .describe('Applied in order, all or none'),
  encoding: z.string().optional().describe('When it is not recognised'),
  version: versionParam,
  dry_run: flag('Only show the diff'),
});

/** Replaces exact text in a file; every other byte stays as it is. */
export const editFile = (services: Services): Tool =>
  defineTool({
    name: 'edit_file',
    program: 'files',
    title: 'Edit file',
    description:
      'Replace exact text in a file that has been read. Line endings, encoding and mode stay. Returns a ' +
      'diff; undo_change takes it back.',
    effects: ['write'],
    params,
    plan: (given, context) =>
      planFile(given, { context, services, kind: 'edit' }, editsOf(given, context, Buffer.allocUnsafe)),
    async run({ work: given }, context) {
      // Lent from call to call: the system gives new memory page by page, which takes longer than the edit.
      let lent: Buffer | undefined;
      const room = (bytes: number) => (lent = services.spare.take(bytes));
      try {
        return await changeFile(given, { context, services, kind: 'edit' }, editsOf(given, context, room));
      } finally {
        if (lent) services.spare.giveBack(lent);
      }
    },
  });

/** Applies the edits of one call, in memory that `room` gives: when the call is over, nobody looks at it any more. */
const editsOf =
  (given: z.output<typeof params>, { signal }: PlanContext, room: (bytes: number) => Buffer): Propose =>
  async (before, encoding) => {
    if (!before)
      throw new ToolcribError(
        'PATH_NOT_FOUND',
        `${given.path}: does not exist.`,
        'write_file makes a new file; glob finds files by part of their name.',
      );
    for (const [at, one] of given.edits.entries()) {
      refuseMask(`edits[${at}].old`, one.old, before);
      refuseMask(`edits[${at}].new`, one.new, before);
    }
    const edited = await applyEdits(before, given.edits, { path: given.path, encoding, signal, room });
    const diff = await unifiedDiff(before, edited.bytes, {
      path: given.path,
      encoding: edited.encoding,
    });
    return { ...edited, diff };
  };
