import * as z from 'zod';
import { flag, path } from '../../core/params.ts';
import { defineTool, type Tool } from '../../core/tool.ts';
import { changeFile, planFile, versionParam, type Propose } from './change-file.ts';
import { refuseMask } from './refuse-mask.ts';
import type { Services } from '../services.ts';
import { encodeText } from '../text/text-form.ts';
import { unifiedDiff } from '../diff/unified-diff.ts';

const params = z.strictObject({
  path: path('File to make or replace'),
  content: z.string().describe('A file that ends its lines with CRLF keeps doing so'),
  encoding: z.string().optional().describe('Default: that of the file, or utf-8'),
  version: versionParam,
  dry_run: flag('Only show the diff'),
});

/** Makes a file, or replaces all of one, in one step. */
export const writeFile = (services: Services): Tool =>
  defineTool({
    name: 'write_file',
    program: 'files',
    title: 'Write file',
    description:
      'Make a file, with its folders, or replace all of one that has been read. Returns a diff; undo_change ' +
      'takes it back. To change a part, use edit_file.',
    effects: ['write'],
    params,
    plan: (given, context) =>
      planFile(given, { context, services, kind: 'write' }, contentOf(given, shownWhole)),
    run: ({ work: given }, context) =>
      changeFile(given, { context, services, kind: 'write' }, contentOf(given, countedOnly)),
  });

type ShowNew = (text: string) => string;

/** Who is asked about a new file sees what would be in it; who has just written it knows. */
const shownWhole: ShowNew = (text) => text;
const countedOnly: ShowNew = () => '';

const contentOf =
  (given: z.output<typeof params>, showNew: ShowNew): Propose =>
  async (before, encoding) => {
    refuseMask('content', given.content, before);
    const written = await encodeText(given.content, {
      ...(before ? { like: before } : {}),
      ...(encoding ? { encoding } : {}),
    });
    const diff = await unifiedDiff(before, written.bytes, { path: given.path, encoding: written.encoding });
    return { ...written, diff: before ? diff : { ...diff, text: showNew(diff.text) } };
  };
