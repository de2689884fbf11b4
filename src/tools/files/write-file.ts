import * as z from 'zod';
import { also, unlisted } from '../../core/accepted.ts';
import { flag, path } from '../../core/params.ts';
import { stepTool } from './change-tool.ts';
import { pathNames, versionParam } from './editing/edit-params.ts';
import { refuseMask, refuseOmission } from './editing/refusals.ts';
import { encodeText } from './text/file-text.ts';

/** Makes a file with the folders it needs, or replaces the whole content of one. */
export default stepTool({
  name: 'write_file',
  title: 'Write file',
  description:
    'Makes a file with its folders, or replaces all of one. ' +
    'What was not shown, or was changed by others, it shows first; the same call again writes.',
  hint: 'create or write a file',
  aliases: 'Write write create_file write_to_file',
  listed: 'first',
  params: z.strictObject({
    path: also(path('File to make or replace: src/a.ts'), pathNames),
    content: also(z.string().describe('All of it'), 'contents text file_text file_content body data', {
      json: true,
    }),
    encoding: unlisted(z.string().max(50).optional()),
    version: versionParam,
    dry_run: unlisted(flag('Only show the diff'), 'preview'),
  }),
  kind: 'write',
  done: 'Wrote',
  subject: (values) => `write ${values.path}`,
  paths: (values) => [values.path],
  steps: ({ path: file, content, encoding, version }) => [
    {
      path: file,
      encoding,
      version,
      replacesAll: true,
      propose: async (before, knownEncoding) => {
        refuseMask('content', content, before);
        if (before) refuseOmission('content', content, () => before.toString());
        return encodeText(content, before, knownEncoding);
      },
    },
  ],
});
