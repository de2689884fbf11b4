import * as z from 'zod';
import { stepTool } from './change-tool.ts';
import { dryRunParam, editParams, encodingParam, versionParam } from './editing/edit-params.ts';
import { changeByEdits, toEdit } from './editing/editing.ts';

/** Replaces exact text in a file; every other byte stays as it is. */
export default stepTool({
  name: 'edit_file',
  title: 'Edit file',
  description:
    'Replaces text in a file: old_string by new_string, once or everywhere. ' +
    'Answers with counts, or a short diff; undo takes it back.',
  hint: 'edit a file, replace exact text',
  aliases: 'Edit edit replace str_replace replace_string_in_file',
  listed: 'first',
  params: z.strictObject({
    ...editParams,
    encoding: encodingParam,
    version: versionParam,
    dry_run: dryRunParam,
  }),
  kind: 'edit',
  done: 'Edited',
  subject: ({ path }) => `edit ${path}`,
  paths: ({ path }) => [path],
  steps: (values, context) => [changeByEdits(values.path, [toEdit(values)], context, values)],
});
