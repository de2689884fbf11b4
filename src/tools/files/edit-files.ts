import * as z from 'zod';
import { also, unlisted } from '../../core/accepted.ts';
import { ToolcribError } from '../../core/errors.ts';
import { path } from '../../core/params.ts';
import { namesOf, stepTool } from './change-tool.ts';
import { dryRunParam, editParams, pathNames } from './editing/edit-params.ts';
import { editing, editOf, type GivenEdit } from './editing/editing.ts';

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

/** The same many times over many files: all edits, or none. */
export default stepTool({
  name: 'edit_files',
  title: 'Edit several files',
  description: 'Makes many edits in one or many files at once: all of them, or none. Answers a line a file.',
  hint: 'edit several files at once',
  aliases: 'MultiEdit multi_edit multi_replace_string_in_file',
  listed: 'yes',
  params: params,
  kind: 'edit',
  done: 'Edited',
  subject: (given) => `edit ${namesOf([...byPath(given).keys()])}`,
  paths: (given) => [...byPath(given).keys()],
  steps: (given, context) =>
    Array.from(byPath(given), ([at, edits]) => editing(at, edits.map(editOf), context)),
});

/** The edits of each file, in their order. Throws ARG_INVALID for one of no file. */
function byPath({ edits, path: shared }: z.output<typeof params>): Map<string, GivenEdit[]> {
  const files = new Map<string, GivenEdit[]>();
  for (const [at, { path: own = shared, ...one }] of edits.entries()) {
    if (own === undefined) throw new ToolcribError('ARG_INVALID', `edits.${at}.path: is required.`);
    files.set(own, [...(files.get(own) ?? []), one]);
  }
  return files;
}
