import * as z from 'zod';
import { also, unlisted } from '../../core/accepted.ts';
import { ToolcribError } from '../../core/errors.ts';
import { path } from '../../core/params.ts';
import { abbreviatePaths, stepTool } from './change-tool.ts';
import { dryRunParam, editParams, pathNames } from './editing/edit-params.ts';
import { changeByEdits, toEdit, type EditParams } from './editing/editing.ts';

const params = z.strictObject({
  edits: also(
    z
      .array(z.strictObject({ ...editParams, path: editParams.path.optional() }))
      .min(1)
      .max(1000)
      .describe('[{path, old_string, new_string, replace_all}, …], all or none'),
    'changes replacements operations',
  ),
  path: unlisted(path('', 'file').optional(), pathNames),
  dry_run: dryRunParam,
});

/** Makes many edits in one or many files: all of them, or none. */
export default stepTool({
  name: 'edit_files',
  title: 'Edit several files',
  description: 'Makes many edits in one or many files at once: all of them, or none. Answers a line a file.',
  hint: 'edit several files at once',
  aliases: 'MultiEdit multi_edit multi_replace_string_in_file',
  listed: 'yes',
  params,
  kind: 'edit',
  done: 'Edited',
  subject: (values) => `edit ${abbreviatePaths([...groupByPath(values).keys()])}`,
  paths: (values) => [...groupByPath(values).keys()],
  steps: (values, context) =>
    Array.from(groupByPath(values), ([file, edits]) => changeByEdits(file, edits.map(toEdit), context)),
});

/** Groups edits by file, in their order. Throws ARG_INVALID for an edit without a path. */
function groupByPath({ edits, path: shared }: z.output<typeof params>): Map<string, EditParams[]> {
  const files = new Map<string, EditParams[]>();
  for (const [at, { path: own = shared, ...edit }] of edits.entries()) {
    if (own === undefined) throw new ToolcribError('ARG_INVALID', `edits.${at}.path: is required.`);
    files.set(own, [...(files.get(own) ?? []), edit]);
  }
  return files;
}
