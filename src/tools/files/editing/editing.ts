import type { PlanContext } from '../../../core/tool.ts';
import { refusal } from '../../../machine/paths/display-path.ts';
import { applyEdits } from './apply-edits.ts';
import type { FileChange } from './change-files.ts';
import type { Edit } from './edited-text.ts';
import { refuseMask } from './refusals.ts';

/** An edit as a caller gives it. */
export interface EditParams {
  readonly old_string: string;
  readonly new_string: string;
  readonly replace_all?: boolean | undefined;
}

/** The change of a file, which has to exist, by edits of its text. */
export function changeByEdits(
  path: string,
  edits: readonly Edit[],
  { signal }: Pick<PlanContext, 'signal'>,
  { encoding, version }: Pick<FileChange, 'encoding' | 'version'> = {},
): FileChange {
  return {
    path,
    encoding,
    version,
    replacesAll: false,
    propose: async (before, knownEncoding) => {
      if (!before)
        throw refusal(
          'PATH_NOT_FOUND',
          path,
          'does not exist.',
          'write_file makes a new file; list_files finds files by part of their name.',
        );
      for (const edit of edits) {
        refuseMask('old_string', edit.old, before);
        refuseMask('new_string', edit.new, before);
      }
      return applyEdits(before, edits, { path, encoding: knownEncoding, signal });
    },
  };
}

/** The edit that the parameters of a call describe. */
export const toEdit = ({ old_string, new_string, replace_all }: EditParams): Edit => ({
  old: old_string,
  new: new_string,
  all: replace_all,
});
