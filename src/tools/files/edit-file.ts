import * as z from 'zod';
import { stepTool } from './change-tool.ts';
import { dryRunParam, editParams, encodingParam, versionParam } from './editing/edit-params.ts';
import { editing, editOf } from './editing/editing.ts';

/** Replaces exact text in a file; every other byte stays as it is. */
export default stepTool({
  name: 'edit_file',
  title: 'Edit file',
  description:
    'Replaces text in a file: old_string by new_string, once or everywhere. Answers with counts, or a short diff; ' +
    'undo takes it back.',
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
  subject: (given) => `edit ${given.path}`,
  paths: (given) => [given.path],
  steps: (given, context) => [editing(given.path, [editOf(given)], context, given)],
});
