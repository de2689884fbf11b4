import type { PlanContext } from '../../../core/tool.ts';
import { refusal } from '../../../machine/paths/display-path.ts';
import { applyEdits } from './apply-edits.ts';
import type { FileChange } from './change-files.ts';
import type { Edit } from './edited-text.ts';
import { refuseMask } from './refusals.ts';

/** An edit as a caller gives it. */
export interface GivenEdit {
  readonly old_string: string;
  readonly new_string: string;
  readonly replace_all?: boolean | undefined;
}

/** The change that edits make of a file that has to be there. */
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

export const editOf = ({ old_string, new_string, replace_all }: GivenEdit): Edit => ({
  old: old_string,
  new: new_string,
  all: replace_all,
});
