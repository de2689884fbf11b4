import * as z from 'zod';
import { flag, path } from '../../core/params.ts';
import { defineTool, type Tool } from '../../core/tool.ts';
import type { Services } from '../services.ts';
import { encodeText } from '../text/encode.ts';
import { changeFile, planFile, versionParam } from './change-file.ts';
import { refuseMask } from './overwrite.ts';

const params = z.strictObject({
  path: path('File to make or replace'),
  content: z.string().describe('A file that ends its lines with CRLF keeps doing so'),
  encoding: z.string().optional().describe('Default: that of the file, or utf-8'),
  version: versionParam,
  dry_run: flag('Only show the diff'),
});
type Params = z.output<typeof params>;

/** Makes a file, or replaces all of one, in one step. */
export const writeFile = (services: Services): Tool =>
  defineTool({
    name: 'write_file',
    program: 'files',
    title: 'Write file',
    description:
      'Make a file, with its folders, or replace all of one. Over a file that was not read, or has changed ' +
      'since, it first shows what is there. Returns a diff; undo takes it back. To change a part, use ' +
      'edit_file.',
    effects: ['write'],
    params,
    plan: (given, context) => planFile(changeOf(given, services), context),
    run: ({ work: given }, context) => changeFile(changeOf(given, services), context),
  });

const changeOf = (given: Params, services: Services) => ({
  kind: 'write' as const,
  given,
  services,
  propose: async (before: Buffer | undefined, encoding: string | undefined) => {
    refuseMask('content', given.content, before);
    return encodeText(given.content, before, encoding);
  },
});
