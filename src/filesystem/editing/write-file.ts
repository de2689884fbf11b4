import * as z from 'zod';
import { also, asText, unlisted } from '../../core/accepted.ts';
import { flag, path } from '../../core/params.ts';
import { stepTool } from '../change-tool.ts';
import { encodeText } from '../text/file-text.ts';
import { pathNames, versionParam } from './edit-file.ts';
import { refuseMask, refuseOmission } from './refusals.ts';

/** Makes a file, or replaces all of one, in one step. */
export const writeFile = stepTool({
  name: 'write_file',
  title: 'Write file',
  description:
    'Makes a file with its folders, or replaces all of one. ' +
    'What was not shown, or was changed by others, it shows first; the same call again writes.',
  params: z.strictObject({
    path: also(path('File to make or replace: src/a.ts'), pathNames),
    content: asText(z.string().describe('All of it'), 'contents text file_text file_content body data'),
    encoding: unlisted(z.string().max(50).optional()),
    version: versionParam,
    dry_run: unlisted(flag('Only show the diff'), 'preview'),
  }),
  kind: 'write',
  done: 'Wrote',
  subject: (given) => `write ${given.path}`,
  paths: (given) => [given.path],
  steps: ({ path: at, content, encoding, version }) => [
    {
      path: at,
      encoding,
      version,
      replacesAll: true,
      propose: async (before, known) => {
        refuseMask('content', content, before);
        if (before) refuseOmission('content', content, () => before.toString());
        return encodeText(content, before, known);
      },
    },
  ],
});
