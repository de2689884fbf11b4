import * as z from 'zod';
import { also, unlisted } from '../../core/accepted.ts';
import { ToolcribError } from '../../core/errors.ts';
import { flag, path } from '../../core/params.ts';
import type { PlanContext } from '../../core/tool.ts';
import { refusal } from '../../machine/paths/display-path.ts';
import { namesOf, stepTool } from './change-tool.ts';
import { applyEdits } from './editing/apply-edits.ts';
import type { FileChange } from './editing/change-files.ts';
import type { Edit } from './editing/edited-text.ts';
import { encodeText } from './text/file-text.ts';
import { refuseMask, refuseOmission } from './editing/refusals.ts';

/** By which other names models know the path of a file. */
const pathNames = 'file_path filename file target_file absolute_path';

const edit = {
  path: also(path('File: src/a.ts', 'file'), pathNames),
  old_string: also(
    z.string().describe('Exact text that is there once, with lines around it'),
    'old_str old_text old search find old_content search_text',
  ),
  new_string: also(
    z.string().describe('What takes its place'),
    'new_str new_text new replace replacement new_content replace_text',
  ),
  replace_all: also(
    z.boolean().optional().describe('Every place'),
    'all allow_multiple multiple replace_all_occurrences',
  ),
};
const dryRun = unlisted(flag('Only show what would change'), 'preview');
const encoding = unlisted(z.string().max(50).optional());
/** What read_file told a caller of another session. */
const versionParam = unlisted(z.string().max(100).optional());

/** Replaces exact text in a file; every other byte stays as it is. */
export const editFile = stepTool({
  name: 'edit_file',
  title: 'Edit file',
  description:
    'Replaces text in a file: old_string by new_string, once or everywhere. Answers with counts, or a short diff; ' +
    'undo takes it back.',
  params: z.strictObject({ ...edit, encoding, version: versionParam, dry_run: dryRun }),
  kind: 'edit',
  done: 'Edited',
  subject: (given) => `edit ${given.path}`,
  paths: (given) => [given.path],
  steps: (given, context) => [editing(given.path, [editOf(given)], context, given)],
});

/** Makes a file, or replaces all of one, in one step. */
export const writeFile = stepTool({
  name: 'write_file',
  title: 'Write file',
  description:
    'Makes a file with its folders, or replaces all of one. ' +
    'What was not shown, or was changed by others, it shows first; the same call again writes.',
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

const severalParams = z.strictObject({
  edits: also(
    z
      .array(z.strictObject({ ...edit, path: edit.path.optional() }))
      .min(1)
      .max(1000)
      .describe('[{path, old_string, new_string, replace_all}, …], all or none'),
    'changes replacements operations',
  ),
  path: unlisted(path('', 'file').optional(), pathNames),
  dry_run: dryRun,
});

/** The same many times over many files: all edits, or none. */
export const editFiles = stepTool({
  name: 'edit_files',
  title: 'Edit several files',
  description: 'Makes many edits in one or many files at once: all of them, or none. Answers a line a file.',
  params: severalParams,
  kind: 'edit',
  done: 'Edited',
  subject: (given) => `edit ${namesOf([...byPath(given).keys()])}`,
  paths: (given) => [...byPath(given).keys()],
  steps: (given, context) =>
    Array.from(byPath(given), ([at, edits]) => editing(at, edits.map(editOf), context)),
});

interface GivenEdit {
  readonly old_string: string;
  readonly new_string: string;
  readonly replace_all?: boolean | undefined;
}

/** The edits of each file, in their order. Throws ARG_INVALID for one of no file. */
function byPath({ edits, path: shared }: z.output<typeof severalParams>): Map<string, GivenEdit[]> {
  const files = new Map<string, GivenEdit[]>();
  for (const [at, { path: own = shared, ...one }] of edits.entries()) {
    if (own === undefined) throw new ToolcribError('ARG_INVALID', `edits.${at}.path: is required.`);
    files.set(own, [...(files.get(own) ?? []), one]);
  }
  return files;
}

/** What edits make of a file that has to be there. */
export function editing(
  at: string,
  edits: readonly Edit[],
  { signal }: Pick<PlanContext, 'signal'>,
  { encoding, version }: Pick<FileChange, 'encoding' | 'version'> = {},
): FileChange {
  return {
    path: at,
    encoding,
    version,
    replacesAll: false,
    propose: async (before, known) => {
      if (!before)
        throw refusal(
          'PATH_NOT_FOUND',
          at,
          'does not exist.',
          'write_file makes a new file; list_files finds files by part of their name.',
        );
      for (const one of edits) {
        refuseMask('old_string', one.old, before);
        refuseMask('new_string', one.new, before);
      }
      return applyEdits(before, edits, { path: at, encoding: known, signal });
    },
  };
}

const editOf = ({ old_string, new_string, replace_all }: GivenEdit): Edit => ({
  old: old_string,
  new: new_string,
  all: replace_all,
});
