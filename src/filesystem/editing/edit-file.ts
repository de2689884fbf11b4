import * as z from 'zod';
import { also, unlisted } from '../../core/accepted.ts';
import { ToolcribError } from '../../core/errors.ts';
import { flag, path } from '../../core/params.ts';
import { defineTool, type PlanContext, type Tool } from '../../core/tool.ts';
import { planChange } from '../plan-change.ts';
import type { Services } from '../services.ts';
import { applyEdits } from './apply-edits.ts';
import { prepareChange, writeChange, type Changing, type FileChange } from './change-files.ts';
import { changeTogether, prepareAll } from './change-together.ts';
import { manyChanged, mostDiff, oneChanged } from './change-text.ts';
import type { Edit } from './find-text.ts';
import { refuseMask } from './overwrite.ts';

/** By which other names models know the path of a file. */
export const pathNames = 'file_path filename file target_file absolute_path';

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
export const versionParam = unlisted(z.string().max(100).optional());

const editParams = z.strictObject({ ...edit, encoding, version: versionParam, dry_run: dryRun });

/** Replaces exact text in a file; every other byte stays as it is. */
export const editFile = (services: Services): Tool =>
  defineTool({
    name: 'edit_file',
    program: 'files',
    title: 'Edit file',
    description:
      'Replaces text in a file: old_string by new_string, once or everywhere. Answers with counts, or a short diff; ' +
      'undo takes it back.',
    effects: ['write'],
    params: editParams,
    plan: (given, context) => {
      const { path: at } = given;
      return planChange(
        {
          verb: 'edit',
          given,
          paths: [at],
          dryRun: () => editOne({ ...given, dry_run: true }, context, services),
        },
        context,
      );
    },
    run: async ({ work: given }, context) => (await editOne(given, context, services)).result,
  });

async function editOne(given: z.output<typeof editParams>, context: PlanContext, services: Services) {
  const { encoding: named, version } = given;
  const change = editing(given.path, [editOf(given)], { encoding: named, version }, context);
  const changing = changingBy('edit', given, services);
  if (!given.dry_run) return oneChanged('Edited', await writeChange(change, changing, context));
  return oneChanged('Would edit', await prepareChange(change, changing, context));
}

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
type Several = z.output<typeof severalParams>;

/** The same many times over many files: all edits, or none. */
export const editFiles = (services: Services): Tool =>
  defineTool({
    name: 'edit_files',
    program: 'files',
    title: 'Edit several files',
    description:
      'Makes many edits in one or many files at once: all of them, or none. Answers a line a file.',
    effects: ['write'],
    params: severalParams,
    plan: (given, context) => {
      const paths = [...byPath(given).keys()];
      const [first = '', ...others] = paths;
      const names = `${first}${others.length > 0 ? ` and ${others.length} more` : ''}`;
      const dry = () => editSeveral({ ...given, dry_run: true }, context, services);
      return planChange({ verb: 'edit', given, paths, names, dryRun: dry }, context);
    },
    run: async ({ work: given }, context) => (await editSeveral(given, context, services)).result,
  });

async function editSeveral(given: Several, context: PlanContext, services: Services) {
  const changing = changingBy('edit', given, services);
  const steps = Array.from(byPath(given), ([at, edits]) => editing(at, edits.map(editOf), {}, context));
  if (given.dry_run)
    return manyChanged({
      done: 'Would edit',
      steps: await prepareAll(steps, changing, context),
      hasDiffs: true,
    });
  return manyChanged({ done: 'Edited', steps: await changeTogether(steps, changing, context) });
}

type GivenEdit = Pick<z.output<typeof editParams>, 'old_string' | 'new_string' | 'replace_all'>;

/** The edits of each file, in their order. Throws ARG_INVALID for one of no file. */
function byPath({ edits, path: shared }: Several): Map<string, GivenEdit[]> {
  const files = new Map<string, GivenEdit[]>();
  for (const [at, { path: own = shared, ...one }] of edits.entries()) {
    if (own === undefined) throw new ToolcribError('ARG_INVALID', `edits.${at}.path: is required.`);
    files.set(own, [...(files.get(own) ?? []), one]);
  }
  return files;
}

export const changingBy = (
  kind: string,
  given: { readonly dry_run: boolean },
  services: Services,
): Changing => ({
  kind,
  // Who will read a dry run has asked for all of it.
  diffCharacters: given.dry_run ? undefined : mostDiff,
  call: () => JSON.stringify([kind, { ...given, dry_run: false }]),
  services,
});

/** What edits make of a file that has to be there. */
export function editing(
  at: string,
  edits: readonly Edit[],
  named: Pick<FileChange, 'encoding' | 'version'>,
  { signal }: Pick<PlanContext, 'signal'>,
): FileChange {
  return {
    ...named,
    path: at,
    replacesAll: false,
    propose: (before, known) => {
      if (!before) throw missing(at);
      for (const edit of edits) {
        refuseMask('old_string', edit.old, before);
        refuseMask('new_string', edit.new, before);
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

const missing = (at: string): ToolcribError =>
  new ToolcribError(
    'PATH_NOT_FOUND',
    `${at}: does not exist.`,
    'write_file makes a new file; list_files finds files by part of their name.',
  );
