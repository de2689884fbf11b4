import * as z from 'zod';
import { also, unlisted } from '../../core/accepted.ts';
import { flag, path } from '../../core/params.ts';
import { stepTool } from './change-tool.ts';
import { targetOf, targetParam } from './editing/move-target.ts';

/** Moves or renames a file, link or folder; never onto something that exists. */
export default stepTool({
  name: 'move_path',
  title: 'Move or rename',
  description: 'Move or rename a file, link or folder. Never replaces what is there. undo takes it back.',
  listed: 'no',
  params: z.strictObject({
    from: also(path('File, link or folder: src/a.ts'), 'source source_path old_path src path'),
    to: targetParam,
    dry_run: unlisted(flag('Only say whether it can be done')),
  }),
  kind: 'move',
  done: 'Moved',
  subject: (values) => `move ${values.from} to ${targetOf(values)}`,
  paths: (values) => [values.from, targetOf(values)],
  noFollow: true,
  steps: (values) => [{ path: values.from, movesTo: targetOf(values) }],
});
