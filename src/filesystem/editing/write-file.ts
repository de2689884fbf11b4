import * as z from 'zod';
import { also, asText, unlisted } from '../../core/accepted.ts';
import { flag, path } from '../../core/params.ts';
import { changeTool } from '../change-tool.ts';
import { encodeText } from '../text/file-text.ts';
import { changeFile, changingBy, type FileChange } from './change-files.ts';
import { oneChanged } from './change-text.ts';
import { pathNames, versionParam } from './edit-file.ts';
import { refuseMask, refuseOmission } from './refusals.ts';

const params = z.strictObject({
  path: also(path('File to make or replace: src/a.ts'), pathNames),
  content: asText(z.string().describe('All of it'), 'contents text file_text file_content body data'),
  encoding: unlisted(z.string().max(50).optional()),
  version: versionParam,
  dry_run: unlisted(flag('Only show the diff'), 'preview'),
});

/** Makes a file, or replaces all of one, in one step. */
export const writeFile = changeTool({
  name: 'write_file',
  title: 'Write file',
  description:
    'Makes a file with its folders, or replaces all of one. ' +
    'What was not shown, or was changed by others, it shows first; the same call again writes.',
  params,
  meant: (given) => given,
  subject: (given) => `write ${given.path}`,
  paths: (given) => [given.path],
  async change(given, context, services) {
    const changed = await changeFile(writing(given), changingBy('write', given, services), context);
    // Who has just written it knows what is in it.
    return oneChanged(given.dry_run ? 'Would write' : 'Wrote', changed, given.dry_run);
  },
});

const writing = ({ path: at, content, encoding, version }: z.output<typeof params>): FileChange => ({
  path: at,
  encoding,
  version,
  replacesAll: true,
  propose: async (before, known) => {
    refuseMask('content', content, before);
    if (before) refuseOmission('content', content, () => before.toString());
    return encodeText(content, before, known);
  },
});
