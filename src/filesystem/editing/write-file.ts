import * as z from 'zod';
import { also, unlisted } from '../../core/accepted.ts';
import { flag, path } from '../../core/params.ts';
import { defineTool, type PlanContext, type Tool } from '../../core/tool.ts';
import { planChange } from '../plan-change.ts';
import type { Services } from '../services.ts';
import { encodeText } from '../text/encode.ts';
import { prepareChange, writeChange, type FileChange } from './change-files.ts';
import { oneChanged } from './change-text.ts';
import { changingBy, pathNames, versionParam } from './edit-file.ts';
import { omittedLine, standsForCode } from './omitted-line.ts';
import { refuseMask } from './overwrite.ts';

const params = z.strictObject({
  path: also(path('File to make or replace: src/a.ts'), pathNames),
  content: also(z.string().describe('All of it'), 'contents text file_text file_content body data'),
  encoding: unlisted(z.string().max(50).optional()),
  version: versionParam,
  dry_run: unlisted(flag('Only show the diff'), 'preview'),
});
type Params = z.output<typeof params>;

/** Makes a file, or replaces all of one, in one step. */
export const writeFile = (services: Services): Tool =>
  defineTool({
    name: 'write_file',
    program: 'files',
    title: 'Write file',
    description:
      'Makes a file with its folders, or replaces all of one. ' +
      'What was not shown, or was changed by others, it shows first; the same call again writes.',
    effects: ['write'],
    params,
    plan: (given, context) => {
      const dryRun = () => write({ ...given, dry_run: true }, context, services);
      return planChange({ verb: 'write', given, paths: [given.path], dryRun }, context);
    },
    run: async ({ work: given }, context) => (await write(given, context, services)).result,
  });

async function write(given: Params, context: PlanContext, services: Services) {
  const changing = changingBy('write', given, services);
  const change = writing(given);
  if (given.dry_run) return oneChanged('Would write', await prepareChange(change, changing, context));
  // Who has just written it knows what is in it.
  return oneChanged('Wrote', await writeChange(change, changing, context), { hasDiff: false });
}

const writing = ({ path: at, content, encoding, version }: Params): FileChange => ({
  path: at,
  encoding,
  version,
  replacesAll: true,
  propose: async (before, known) => {
    refuseMask('content', content, before);
    const omitted = before && omittedLine(content, () => before.toString());
    if (omitted !== undefined) throw standsForCode('content', omitted);
    return encodeText(content, before, known);
  },
});
