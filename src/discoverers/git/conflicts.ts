import * as z from 'zod';
import { kind, type Output } from '../../core/report.ts';
import { nowLine, readStatus, whereOf, withoutModes } from './status.ts';

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
});

/** Where a merge or the like stands, and what is in the way: both sides, with their lines. */
const report = kind('integration', integration, ({ state, where, files, conflicts, said }) =>
  [
    state === 'conflicts'
      ? `conflicts in ${files.length} ${files.length === 1 ? 'file' : 'files'}: mend them, then git_integrate ` +
        `action=continue paths=${JSON.stringify(files)}; or action=abort`
      : said,
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

/** What git says of a merge, rebase, cherry-pick or revert, and what is now. */
export const integrates = {
  after: {
    now: nowLine,
    diff: () => ['diff', '--no-color', '--no-ext-diff', '--no-textconv', '--diff-filter=U'],
  },
  // 1: conflicts; 128: refused, when nothing is under way.
  ok: [0, 1],
  out: report(integrated),
} as const;

function integrated({ stdout, stderr, exitCode, after }: Output) {
  const status = readStatus(after['now'] ?? '');
  const files = status.changes.filter(({ state }) => /U|AA|DD/.test(state)).map(({ path }) => path);
  // A failure without conflicts is one.
  if (files.length === 0 && exitCode !== 0) throw new Error('refused');
  const said = [stdout, stderr].map((text) => text.trim()).filter((text) => text !== '');
  return {
    state: files.length > 0 ? ('conflicts' as const) : ('done' as const),
    where: whereOf(status),
    files,
    conflicts: conflictsIn(after['diff'] ?? ''),
    said: withoutModes(said.join('\n')) || 'done',
  };
}

/** Both sides between markers of a combined diff, with the line of the first marker in the file as it is now. */
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
