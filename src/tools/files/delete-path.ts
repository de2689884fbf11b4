import * as z from 'zod';
import { also, unlisted } from '../../core/accepted.ts';
import { flag, path } from '../../core/params.ts';
import { stepTool } from './change-tool.ts';

/** Deletes a file, link or folder by moving it into the history, from which undo brings it back. */
export default stepTool({
  name: 'delete_path',
  title: 'Delete',
  description:
    'Delete a file, a link (not what it names) or a folder with all that is in it. undo brings it back.',
  listed: 'no',
  params: z.strictObject({
    path: also(path('File, link or folder: src/a.ts'), 'file_path target target_file file'),
    dry_run: unlisted(flag('Only say what would go')),
  }),
  kind: 'delete',
  done: 'Deleted',
  subject: (values) => `delete ${values.path}`,
  paths: (values) => [values.path],
  noFollow: true,
  steps: (values) => [{ path: values.path, isRemoved: true }],
});
