import { join } from 'node:path';
import * as z from 'zod';
import { also, unlisted } from '../../core/accepted.ts';
import { ToolcribError } from '../../core/errors.ts';
import { flag } from '../../core/params.ts';
import type { PlanContext } from '../../core/tool.ts';
import { togetherAs } from '../../machine/history/entry.ts';
import { noConsent } from '../../machine/paths/protected-paths.ts';
import { refusal, displayPath } from '../../machine/paths/display-path.ts';
import { rooted } from '../../machine/paths/workspace.ts';
import { changeTool } from './change-tool.ts';
import { rootRelative } from './wording.ts';
import {
  choosingParams,
  globParam,
  hasSigns,
  literalParam,
  patternParam,
  scopeParam,
  spansLines,
} from './searching/search-request.ts';
import { findReplacements, type Replacement } from './searching/replacements.ts';
import type { Session } from '../../machine/session.ts';
import { fileBytes, fileText } from './text/file-text.ts';
import type { FileChange } from './editing/change-files.ts';
import { changedText, type ChangeAnswer } from './editing/changed-text.ts';
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
  ...choosingParams,
});
type ReplaceParams = z.output<typeof params>;

/**
 * Replaces what a regular expression finds in many files: ripgrep finds it, and says what takes its place.
 * Which files it is about is found when it is done: what is protected among them is left.
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
  paths: (given) => [given.path],
  within: true,
  looks: (given) => given.dry_run,
  act: (given, isDry, context, session) =>
    replaceAll({ ...given, literal: given.literal || given.is_regexp === false }, isDry, context, session),
});

async function replaceAll(
  given: ReplaceParams,
  isDry: boolean,
  context: PlanContext,
  session: Session,
): Promise<ChangeAnswer> {
  refuseMask('pattern', given.pattern, undefined);
  refuseMask('replacement', given.replacement, undefined);
  // Nobody is asked about single files: what a person would have to be is left.
  const gate = rooted(context.workspace).consenting(noConsent);
  const within = { ...context, workspace: gate };
  const { replacement, notes } = replacementFor(given);
  const multiline = given.multiline || spansLines(given.pattern, given.literal);
  const found = await findReplacements({ ...given, multiline, replacement }, within, session);
  if (found.files.size === 0) {
    const why = found.notes.length > 0 ? ` (${found.notes.join('; ')})` : '';
    const wayOut = `grep shows what is there${hasSigns(given) ? '; literal takes the pattern as plain text' : ''}.`;
    throw new ToolcribError('NOT_FOUND', `pattern: nothing matches; nothing was changed${why}.`, wayOut);
  }
  const changing = { kind: togetherAs('replace'), isDry, call: () => '', session };
  const changes = Array.from(found.files, ([path, places]) =>
    replacing(rootRelative(join(found.folder, path), gate.roots), places, given.encoding),
  );
  const { done: steps, failed } = await takeEach(changes, changing, within);
  const left = failed.map(({ path, error }) => `${displayPath(path)}: ${error.code}`);
  const done = isDry ? 'Would change' : 'Changed';
  return changedText({ done, steps, left, notes: [...notes, ...found.notes], isDry });
}

/**
 * The replacement as ripgrep takes it, where a `$` without a group behind it is a dollar: to ripgrep `$name`
 * of no group is nothing at all, and `$1_a` is a group called so.
 */
function replacementFor({ replacement, pattern, literal }: ReplaceParams): {
  replacement: string;
  notes: string[];
} {
  const dollars = (text: string) => text.replaceAll('$', '$$$$');
  if (literal) return { replacement: dollars(replacement), notes: [] };
  const count = pattern.split('(').length - 1;
  const names = new Set(Array.from(pattern.matchAll(/\(\?P?<(\w+)>/g), ([, name]) => name));
  const isGroup = (name: string) => (/^\d+$/.test(name) ? Number(name) <= count : names.has(name));
  const plain = new Set<string>();
  const meant = replacement.replaceAll(
    /\$\$|\$&|\$\{(\w+)\}|\$(\d{1,2})|\$([A-Za-z_]\w*)|\\(\d)|\$/g,
    (token, ...groups: (string | undefined)[]) => {
      if (token === '$$') return token;
      if (token === '$&') return '${0}';
      const group = groups.slice(0, 4).find((name) => name !== undefined);
      if (group !== undefined && isGroup(group)) return `\${${group}}`;
      if (token !== '$') plain.add(token);
      return dollars(token);
    },
  );
  const notes = plain.size > 0 ? [`${[...plain].join(', ')}: no group, taken as text`] : [];
  return { replacement: meant, notes };
}

const replacing = (
  path: string,
  places: readonly Replacement[],
  encoding: string | undefined,
): FileChange => ({
  path,
  encoding,
  replacesAll: false,
  takesAny: true,
  async propose(before, known) {
    if (!before) throw refusal('STALE_FILE', path, 'is gone.');
    const file = await fileText(before, displayPath(path), known);
    // ripgrep has read the same: UTF-8, without a mark.
    const pieces: Buffer[] = [];
    let at = 0;
    for (const { from, to, match, fresh } of places) {
      if (from < at || !file.body.subarray(from, to).equals(match))
        throw refusal('STALE_FILE', path, 'has changed since it was searched.');
      pieces.push(file.body.subarray(at, from), fresh);
      at = to;
    }
    const bytes = await fileBytes(Buffer.concat([...pieces, file.body.subarray(at)]), file, 'replacement');
    return { bytes, encoding: file.label, notes: file.notes, places: places.length };
  },
});
