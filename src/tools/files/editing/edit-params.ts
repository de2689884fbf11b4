import * as z from 'zod';
import { also, unlisted } from '../../../core/accepted.ts';
import { flag, path } from '../../../core/params.ts';

/** Other names that models have for the path of a file. */
export const pathNames = 'file_path filename file target_file absolute_path';

/** The parameters of one edit. */
export const editParams = {
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
export const dryRunParam = unlisted(flag('Only show what would change'), 'preview');
export const encodingParam = unlisted(z.string().max(50).optional());
/** The version of a file, which read_file shows to callers that edit it in another session. */
export const versionParam = unlisted(z.string().max(100).optional());
