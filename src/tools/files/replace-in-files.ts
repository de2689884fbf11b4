import { join } from 'node:path';
import * as z from 'zod';
import { also, unlisted } from '../../core/accepted.ts';
import { ToolcribError } from '../../core/errors.ts';
import { flag } from '../../core/params.ts';
import { togetherAs } from '../../machine/history/entry.ts';
import { noConsent } from '../../machine/paths/protected-paths.ts';
import { refusal, displayPath } from '../../machine/paths/display-path.ts';
import { rooted } from '../../machine/paths/workspace.ts';
import { changeTool } from './change-tool.ts';
import { rootRelative } from './wording.ts';
import {
  selectionParams,
  globParam,
  hasOperators,
  literalParam,
  patternParam,
  scopeParam,
  spansLines,
} from './searching/search-request.ts';
import { findReplacements, type Replacement } from './searching/replacements.ts';
import type { ToolPlanContext } from '../define-tool.ts';
import { encodeFile, decodeFile } from './text/file-text.ts';
import type { FileChange } from './editing/change-files.ts';
import { formatChanges, type ChangeAnswer } from './editing/changed-text.ts';
import { takeEach } from './editing/take-steps.ts';
import { refuseMask } from './editing/refusals.ts';

const params = z.strictObject({
  pattern: patternParam('Regular expression, Rust syntax: \\bgetUser\\('),
  replacement: also(
    z.string().max(100_000).describe('Text; $1 and ${name} are groups: fetchUser($1'),
    'replace new_string replace_with replacement_text with substitution new_text',
  ),
  path: scopeParam,
  glob: globParam,
  literal: literalParam,
  dry_run: also(flag('Only show what would change'), 'preview'),
  ignore_case: unlisted(flag('Upper and lower case alike'), '-i case_insensitive'),
  ...selectionParams,
});
type ReplaceParams = z.output<typeof params>;

/**
 * Replaces the matches of a regular expression in many files; ripgrep finds them and makes the replacements.
 * The files are only known when it runs, so that protected ones are left as they are.
 */
export default changeTool({
  name: 'replace_in_files',
  title: 'Replace in files',
  description:
    'Replaces a regular expression in many files at once, to rename or migrate. Answers a line a file; ' +
    'one undo takes all back.',
  hint: 'rename or replace over many files',
  listed: 'yes',
  params,
  subject: ({ pattern, glob, path }) =>
    `replace ${pattern} in ${glob === undefined ? path : `${glob} in ${path}`}`,
  paths: ({ path }) => [path],
  searchesPaths: true,
  isReadOnly: (values) => values.dry_run,
  apply: (values, isDry, context) =>
    replaceAll({ ...values, literal: values.literal || values.is_regexp === false }, isDry, context),
});

async function replaceAll(
  request: ReplaceParams,
  isDry: boolean,
  context: ToolPlanContext,
): Promise<ChangeAnswer> {
  refuseMask('pattern', request.pattern, undefined);
  refuseMask('replacement', request.replacement, undefined);
  // Nobody is asked about single files: those that a person would be asked about are left as they are.
  const gate = rooted(context.workspace).consenting(noConsent);
  const unprotected = { ...context, workspace: gate };
  const { replacement, notes } = replacementFor(request);
  const multiline = request.multiline || spansLines(request.pattern, request.literal);
  const found = await findReplacements({ ...request, multiline, replacement }, unprotected);
  if (found.files.size === 0) {
    const why = found.notes.length > 0 ? ` (${found.notes.join('; ')})` : '';
    const literalHint = hasOperators(request) ? '; literal takes the pattern as plain text' : '';
    const wayOut = `grep shows what is there${literalHint}.`;
    throw new ToolcribError('NOT_FOUND', `pattern: nothing matches; nothing was changed${why}.`, wayOut);
  }
  const options = { kind: togetherAs('replace'), isDry, call: () => '' };
  const changes = Array.from(found.files, ([path, places]) =>
    replacementChange(rootRelative(join(found.folder, path), gate.roots), places, request.encoding),
  );
  const { done: steps, failed } = await takeEach(changes, options, unprotected);
  const skipped = failed.map(({ path, error }) => `${displayPath(path)}: ${error.code}`);
  const done = isDry ? 'Would change' : 'Changed';
  return formatChanges({ done, steps, skipped, notes: [...notes, ...found.notes], isDry });
}

/**
 * The replacement in the syntax of ripgrep, with a `$` that names no group as a plain dollar: ripgrep would
 * drop `$name` of no group, and take `$1_a` for a group called `1_a`.
 */
function replacementFor({ replacement, pattern, literal }: ReplaceParams): {
  readonly replacement: string;
  readonly notes: readonly string[];
} {
  const escapeDollars = (text: string) => text.replaceAll('$', '$$$$');
  if (literal) return { replacement: escapeDollars(replacement), notes: [] };
  const count = pattern.split('(').length - 1;
  const names = new Set(Array.from(pattern.matchAll(/\(\?P?<(\w+)>/g), ([, name]) => name));
  const isGroup = (name: string) => (/^\d+$/.test(name) ? Number(name) <= count : names.has(name));
  const unknownGroups = new Set<string>();
  const escaped = replacement.replaceAll(
    /\$\$|\$&|\$\{(\w+)\}|\$(\d{1,2})|\$([A-Za-z_]\w*)|\\(\d)|\$/g,
    (token, ...groups: (string | undefined)[]) => {
      if (token === '$$') return token;
      if (token === '$&') return '${0}';
      const group = groups.slice(0, 4).find((name) => name !== undefined);
      if (group !== undefined && isGroup(group)) return `\${${group}}`;
      if (token !== '$') unknownGroups.add(token);
      return escapeDollars(token);
    },
  );
  const notes = unknownGroups.size > 0 ? [`${[...unknownGroups].join(', ')}: no group, taken as text`] : [];
  return { replacement: escaped, notes };
}

/** The change of one file by its replacements; refused when the file has changed since it was searched. */
const replacementChange = (
  path: string,
  places: readonly Replacement[],
  encoding: string | undefined,
): FileChange => ({
  path,
  encoding,
  replacesAll: false,
  allowsUnseen: true,
  async propose(before, knownEncoding) {
    if (!before) throw refusal('STALE_FILE', path, 'is gone.');
    const file = await decodeFile(before, displayPath(path), knownEncoding);
    // Positions count bytes as ripgrep has read the file: in UTF-8, without a byte order mark.
    const pieces: Buffer[] = [];
    let at = 0;
    for (const { from, to, match, replacement } of places) {
      if (from < at || !file.body.subarray(from, to).equals(match))
        throw refusal('STALE_FILE', path, 'has changed since it was searched.');
      pieces.push(file.body.subarray(at, from), replacement);
      at = to;
    }
    const bytes = await encodeFile(Buffer.concat([...pieces, file.body.subarray(at)]), file, 'replacement');
    return { bytes, encoding: file.label, notes: file.notes, places: places.length };
  },
});
