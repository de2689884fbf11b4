import * as z from 'zod';
import { ToolcribError } from '../../core/errors.ts';
import { also } from '../../core/accepted.ts';
import { flag, list, path } from '../../core/params.ts';
import { areTogether, type Change } from '../../machine/history/entry.ts';
import type { UndoneFile } from '../../machine/history/restore-tree.ts';
import type { Selection } from '../../machine/history/log.ts';
import type { UndoOutcome } from '../../machine/history/undo.ts';
import { displayPath } from '../../machine/paths/display-path.ts';
import { rooted } from '../../machine/paths/workspace.ts';
import { sanitize } from '../../machine/sanitize.ts';
import { changeTool } from './change-tool.ts';
import type { ChangeAnswer } from './editing/changed-text.ts';
import { formatCount, rootRelative } from './wording.ts';
import type { ToolPlanContext } from '../define-tool.ts';
import { unifiedDiff } from './text/unified-diff.ts';

const params = z.strictObject({
  last: also(z.int().min(1).optional().describe('Take back the last so many: 1'), 'count n steps'),
  since: also(
    z.string().max(100).optional().describe('Take back this change and all after it'),
    'id change change_id',
  ),
  paths: also(list(path('File or folder: src'), 'Only these'), 'path files file_path'),
  dry_run: also(flag('Only show what would change'), 'preview'),
});
type UndoParams = z.output<typeof params>;

/** Lines of a list that are shown at most. */
const mostListed = 50;
const [mostNamed, mostFiles] = [3, 5];
const [shortDiff, diffCharacters] = [600, 8_000];

/** Lists the changes that edits and commands made, or takes some back, which is a change itself. */
export default changeTool({
  name: 'undo',
  title: 'Undo changes',
  description:
    'Takes back edits, moves, deletions, and what commands did to files. ' +
    'Without last and since it lists what can be taken back.',
  hint: 'undo changes, take back edits',
  aliases: 'undo_edit undo_change',
  listed: 'first',
  params,
  subject(values) {
    if (isListing(values)) return 'list changes';
    const which = values.since === undefined ? `the last ${values.last}` : `all since ${values.since}`;
    return ['undo', which, ...values.paths].join(' ');
  },
  paths: ({ paths }) => paths,
  noFollow: true,
  isReadOnly: (values) => values.dry_run || isListing(values),
  apply(values, isDry, context) {
    if (values.last !== undefined && values.since !== undefined)
      throw new ToolcribError('ARG_INVALID', 'last and since: only one of them.', 'Leave one of them out.');
    if (isListing(values)) return listChanges(values, context);
    return undoChanges({ ...values, dry_run: isDry }, context);
  },
});

const isListing = ({ last, since }: UndoParams): boolean => last === undefined && since === undefined;

async function listChanges(values: UndoParams, context: ToolPlanContext): Promise<ChangeAnswer> {
  const history = await context.session.history();
  const { roots } = context.workspace;
  const groups = groupChanges(await history.list(await selectionFor(values, context), roots));
  const lines = firstLines(groups, (group) => {
    const [newest] = group;
    const oldest = group.at(-1) ?? newest;
    const time = new Date(newest.at).toISOString().slice(0, 19).replace('T', ' ');
    return `${oldest.id}  ${time}Z  ${describeGroup(group, roots)}`;
  });
  if (groups.length === 0) return { text: 'Nothing to take back.' };
  return { text: [...lines, '[undo last=1 takes back the newest]'].join('\n') };
}

const selectionFor = async (
  { last, since, paths }: UndoParams,
  { workspace }: ToolPlanContext,
): Promise<Selection> => ({
  last,
  since,
  paths: await Promise.all(paths.map((path) => workspace.resolve(path))),
});

/** Changes that one call has made together, newest first. */
type ChangeGroup = readonly [Change, ...Change[]];

function groupChanges(changes: readonly Change[]): ChangeGroup[] {
  const groups: [Change, ...Change[]][] = [];
  for (const change of changes) {
    const group = groups.at(-1);
    if (group && areTogether(group[0], change)) group.push(change);
    else groups.push([change]);
  }
  return groups;
}

/** Formats the first items as a line each, and the number of the others. */
const firstLines = <Item>(items: readonly Item[], line: (item: Item) => string): string[] => [
  ...items.slice(0, mostListed).map(line),
  ...(items.length > mostListed ? [`… and ${items.length - mostListed} more`] : []),
];

/**
 * Describes a group of changes: `edit src/a.ts +1 -2`, `replace 18 files: src/a.ts, …`, `ran npm install: 3
 * files`.
 */
function describeGroup(group: ChangeGroup, roots: readonly string[]): string {
  const [{ kind: numberedKind, path: from, to, command, states }] = group;
  const [kind = ''] = numberedKind.split('@');
  const name = (path: string) => displayPath(rootRelative(path, roots));
  const sum = (count: 'added' | 'removed') =>
    group.reduce((total, change) => total + (change[count] ?? 0), 0);
  const counts = group.some(({ added }) => added !== undefined) ? ` +${sum('added')} -${sum('removed')}` : '';
  if (group.length > 1) {
    const paths = group.toReversed().map((change) => name(change.path));
    const more = paths.length > mostNamed ? ', …' : '';
    const first = paths.slice(0, mostNamed).join(', ');
    return `${kind} ${formatCount(paths.length, 'file')}: ${first}${more}${counts}`;
  }
  if (states) {
    const count = kind === 'undo' ? '' : `: ${formatCount(states.files, 'file')}`;
    return `${kind} ${sanitize(command ?? '')}${count}`;
  }
  return `${kind} ${name(from)}${to === undefined ? '' : ` -> ${name(to)}`}${counts}`;
}

async function undoChanges(values: UndoParams, context: ToolPlanContext): Promise<ChangeAnswer> {
  const { signal, workspace, session } = context;
  const isDry = values.dry_run;
  const history = await session.history();
  const options = { workspace: rooted(workspace), dryRun: isDry, signal };
  const undone = await history.undo(await selectionFor(values, context), options);
  const { changes, left } = undone;
  const [first] = left;
  if (changes.length === 0 && first) throw first.error;
  if (changes.length === 0) return { text: 'Nothing to take back.' };
  const files = mergeChanges(undone.files);
  // A file has to be read again, or its text named, before it is changed again.
  if (!isDry)
    for (const { path, from = path } of files)
      for (const name of [path, from]) session.knownFiles.forget(name);
  const lines = [
    headline(undone, workspace.roots, isDry),
    ...fileLines(files, workspace.roots),
    ...firstLines(left, ({ path, error }) => {
      const name = displayPath(rootRelative(path, workspace.roots));
      return `left ${name}: ${sanitize(error.message)}`;
    }),
  ];
  let diff = '';
  for (const { path, was, is } of files) {
    const maxCharacters = diffCharacters - diff.length;
    if ((!was && !is) || maxCharacters <= 0) continue;
    diff += (await unifiedDiff(was, is, { path: rootRelative(path, workspace.roots), maxCharacters })).text;
  }
  // A longer diff is left out: whoever made the changes knows the content before them.
  if (isDry || diff.length <= shortDiff) lines.push(diff);
  return { text: lines.join('\n') };
}

/** Formats the files that an undo made, changed, moved or removed: a line for each of these. */
function fileLines(files: readonly UndoneFile[], roots: readonly string[]): string[] {
  const name = (path: string) => displayPath(rootRelative(path, roots));
  return (['made', 'changed', 'moved', 'removed'] as const).flatMap((did) => {
    const done = files.filter((file) => file.did === did);
    if (done.length === 0) return [];
    const names = done
      .slice(0, mostFiles)
      .map(({ from, path }) => `${from ? `${name(from)} -> ` : ''}${name(path)}`);
    if (done.length > mostFiles) names.push(`… ${done.length} in all`);
    return [`${did} ${names.join(', ')}`];
  });
}

/** The first line of an answer: the changes taken back, and the call that redoes them. */
function headline({ changes }: UndoOutcome, roots: readonly string[], isDry: boolean): string {
  const groups = groupChanges(changes.map(({ change }) => change));
  const [newest] = groups;
  const what =
    groups.length === 1 && newest ? describeGroup(newest, roots) : formatCount(groups.length, 'change');
  if (isDry) return `Would take back ${what}`;
  const redo = changes.find(({ by }) => by !== undefined)?.by;
  return `Took back ${what}${redo === undefined ? '' : ` (to redo: undo since=${redo})`}`;
}

/** Merges the changes of each file into one, from its first content to its last. */
function mergeChanges(files: readonly UndoneFile[]): UndoneFile[] {
  const whole = new Map<string, UndoneFile>();
  for (const file of files) {
    const key = `${file.from ?? ''}\0${file.path}`;
    const { did, was } = whole.get(key) ?? file;
    // A file that was made again and then changed counts as made.
    whole.set(key, { ...file, did: file.did === 'changed' ? did : file.did, was });
  }
  return [...whole.values()];
}
