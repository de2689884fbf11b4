import * as z from 'zod';
import { kind, type Output } from '../../core/grammar.ts';
import { now, readStatus, whereOf, withoutModes } from './status.ts';

const side = z.object({ name: z.string(), lines: z.array(z.string()) });
const conflict = z.object({
  file: z.string(),
  line: z.int(),
  ours: side,
  theirs: side,
});
type Conflict = z.infer<typeof conflict>;

const integration = z.object({
  state: z.enum(['done', 'conflicts', 'refused']),
  where: z.string(),
  files: z.array(z.string()),
  conflicts: z.array(conflict),
  said: z.string(),
  /** The next step with the conflicts. */
  then: z.string(),
});

/** The state of a merge or the like, and what is in the way: both sides, with their lines. */
const report = kind('integration', integration, ({ state, where, files, conflicts, said, then }) =>
  [
    ...(state === 'conflicts'
      ? [
          `conflicts in ${files.length} ${files.length === 1 ? 'file' : 'files'}: mend them, then ${then}`,
          ...(said === '' ? [] : [said]),
        ]
      : [said]),
    where,
    ...conflicts.flatMap(({ file, line, ours, theirs }) => [
      `${file}:${line}`,
      ...[ours, theirs].flatMap((one) => [`  ${one.name}:`, ...one.lines.map((text) => `  | ${text}`)]),
    ]),
    ...files
      .filter((file) => conflicts.every((one) => one.file !== file))
      .map((file) => `${file}: in conflict`),
  ].join('\n'),
);

type ConflictFiles = readonly string[];
const goOn = (files: ConflictFiles) =>
  `git_integrate action=continue paths=${JSON.stringify(files)}; or action=abort`;

/**
 * The report of what can end in conflicts, and of what is now. `done` is said where git says nothing; `then`
 * is what to do once they are mended.
 */
export const integratesBy = (done: string, then: (files: ConflictFiles) => string) =>
  ({
    steps: {
      after: {
        ...now,
        diff: () => ['diff', '--no-color', '--no-ext-diff', '--no-textconv', '--diff-filter=U'],
      },
    },
    // 1: conflicts; 128: refused, as long as others are there.
    ok: [0, 1, 128],
    out: report((output) => integrated(output, done, then)),
  }) as const;

/** The same of a merge, rebase, cherry-pick, revert or pull, which goes on when the conflicts are mended. */
export const integrates = integratesBy('done', goOn);

function integrated(
  { stdout, stderr, exitCode, after, values }: Output,
  done: string,
  then: (files: ConflictFiles) => string,
) {
  const status = readStatus(after['now'] ?? '');
  const files = status.changes.filter(({ state }) => /U|AA|DD/.test(state)).map(({ path }) => path);
  // A failure without conflicts is one.
  if (files.length === 0 && exitCode !== 0) throw new Error('refused');
  const said = [stdout, stderr]
    .map((text) => text.trim())
    .filter((text) => text !== '')
    .join('\n');
  // Those that were there before are not what it was asked to bring: why it did not is said as well.
  const isRefused = /^(?:error|fatal): |needs merge/m.test(said) && !/CONFLICT|with conflicts/.test(said);
  const areOthers = isRefused && (values['step'] ?? 'start') === 'start';
  const isConflict = files.length > 0;
  return {
    state: isConflict ? ('conflicts' as const) : ('done' as const),
    where: whereOf(status),
    files,
    conflicts: conflictsIn(after['diff'] ?? ''),
    said: isConflict ? (areOthers ? said : '') : withoutModes(said) || done,
    then: then(files),
  };
}

/**
 * Both sides between markers of a combined diff, with the line of the first marker in the file as it is now.
 */
export function conflictsIn(diff: string): Conflict[] {
  const found: Conflict[] = [];
  let [file, line] = ['', 0];
  let into: 'ours' | 'theirs' | 'base' | undefined;
  for (const text of diff.split('\n')) {
    const hunk = /^@@@ .*\+(\d+)(?:,\d+)? @@@/.exec(text);
    if (text.startsWith('diff --cc ')) file = text.slice('diff --cc '.length);
    if (hunk) line = Number(hunk[1]);
    // A combined diff begins each line with a column for each parent.
    if (hunk || !/^[ +]{2}/.test(text) || text.startsWith('+++ ')) continue;
    const content = text.slice(2);
    const last = found.at(-1);
    if (content.startsWith('<<<<<<< ')) {
      found.push({
        file,
        line,
        ours: { name: content.slice(8), lines: [] },
        theirs: { name: '', lines: [] },
      });
      into = 'ours';
    } else if (into && content.startsWith('|||||||')) into = 'base';
    else if (into && content === '=======') into = 'theirs';
    else if (into && content.startsWith('>>>>>>> ')) {
      if (last) last.theirs.name = content.slice(8);
      into = undefined;
    } else if (into && into !== 'base') last?.[into].lines.push(content);
    line += 1;
  }
  return found;
}
