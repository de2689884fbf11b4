import * as z from 'zod';
import { ToolcribError } from '../../core/errors.ts';
import { flag, path } from '../../core/params.ts';
import { defineTool, type PlanContext, type Tool } from '../../core/tool.ts';
import type { Services } from '../services.ts';
import { applyEdits } from './apply-edits.ts';
import { changeFile, planFile, versionParam } from './change-file.ts';
import { refuseMask } from './overwrite.ts';

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
type Params = z.output<typeof params>;

/** Replaces exact text in a file; every other byte stays as it is. */
export const editFile = (services: Services): Tool =>
  defineTool({
    name: 'edit_file',
    program: 'files',
    title: 'Edit file',
    description:
      'Replace exact text in a file. Line endings, encoding and mode stay. Returns a diff; undo takes ' +
      'it back.',
    effects: ['write'],
    params,
    plan: (given, context) => planFile(changeOf(given, services, context), context),
    run: ({ work: given }, context) => changeFile(changeOf(given, services, context), context),
  });

const changeOf = (given: Params, services: Services, { signal }: PlanContext) => ({
  kind: 'edit' as const,
  given,
  services,
  propose: (before: Buffer | undefined, encoding: string | undefined) => {
    if (!before)
      throw new ToolcribError(
        'PATH_NOT_FOUND',
        `${given.path}: does not exist.`,
        'write_file makes a new file; list_files finds files by part of their name.',
      );
    for (const [at, edit] of given.edits.entries()) {
      refuseMask(`edits[${at}].old`, edit.old, before);
      refuseMask(`edits[${at}].new`, edit.new, before);
    }
    return applyEdits(before, given.edits, { path: given.path, encoding, signal });
  },
});
