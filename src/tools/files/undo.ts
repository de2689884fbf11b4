import * as z from 'zod';
import { ToolcribError } from '../../core/errors.ts';
import { also } from '../../core/accepted.ts';
import { flag, list, path } from '../../core/params.ts';
import type { PlanContext } from '../../core/tool.ts';
import { areTogether, type Change } from '../../machine/history/entry.ts';
import type { UndoneFile } from '../../machine/history/restore-tree.ts';
import type { Selection } from '../../machine/history/log.ts';
import type { Undone } from '../../machine/history/undo.ts';
import { displayPath } from '../../machine/paths/display-path.ts';
import { rooted } from '../../machine/paths/workspace.ts';
import { sanitize } from '../../machine/sanitize.ts';
import { changeTool } from './change-tool.ts';
import type { ChangeAnswer } from './editing/changed-text.ts';
import { countOf, rootRelative } from './wording.ts';
import type { Session } from '../../machine/session.ts';
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

/** As many of a list as a model can use. */
const mostListed = 50;
const [mostNamed, mostFiles] = [3, 5];
const [shortDiff, diffCharacters] = [600, 8_000];

/** Lists what can be taken back, edits and commands alike, or takes it back, which is a change itself. */
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
  subject(given) {
    if (isListing(given)) return 'list changes';
    const which = given.since === undefined ? `the last ${given.last}` : `all since ${given.since}`;
    return ['undo', which, ...given.paths].join(' ');
  },
  paths: ({ paths }) => paths,
  itself: true,
  looks: (given) => given.dry_run || isListing(given),
  act(given, isDry, context, session) {
    if (given.last !== undefined && given.since !== undefined)
      throw new ToolcribError('ARG_INVALID', 'last and since: only one of them.', 'Leave one of them out.');
    if (isListing(given)) return listChanges(given, context, session);
    return undoIn({ ...given, dry_run: isDry }, context, session);
  },
});

const isListing = ({ last, since }: UndoParams): boolean => last === undefined && since === undefined;

const selected = async (
  { last, since, paths }: UndoParams,
  { workspace }: PlanContext,
): Promise<Selection> => ({
  last,
  since,
  paths: await Promise.all(paths.map((each) => workspace.resolve(each))),
});

/** Changes that one call has made together, newest first; a single one by itself. */
type ChangeGroup = readonly [Change, ...Change[]];

function groupChanges(changes: readonly Change[]): ChangeGroup[] {
  const acts: [Change, ...Change[]][] = [];
  for (const change of changes) {
    const act = acts.at(-1);
    if (act && areTogether(act[0], change)) act.push(change);
    else acts.push([change]);
  }
  return acts;
}

async function listChanges(given: UndoParams, context: PlanContext, session: Session): Promise<ChangeAnswer> {
  const history = await session.history();
  const { roots } = context.workspace;
  const acts = groupChanges(await history.list(await selected(given, context), roots));
  const shown = shortened(acts, (act) => {
    const time = new Date(act[0].at).toISOString().slice(0, 19).replace('T', ' ');
    return `${(act.at(-1) ?? act[0]).id}  ${time}Z  ${subjectOf(act, roots)}`;
  });
  if (acts.length === 0) return said('Nothing to take back.');
  return said([...shown, '[undo last=1 takes back the newest]'].join('\n'));
}

/** A line for each of the first, and the number of the others. */
const shortened = <Item>(items: readonly Item[], line: (item: Item) => string): string[] => [
  ...items.slice(0, mostListed).map(line),
  ...(items.length > mostListed ? [`… and ${items.length - mostListed} more`] : []),
];

/**
 * An act in some words: `edit src/a.ts +1 -2`, `replace 18 files: src/a.ts, …`, `ran npm install: 3 files`.
 */
function subjectOf(act: ChangeGroup, roots: readonly string[]): string {
  const [{ kind: noted, path: at, to, command, states }] = act;
  const [kind = ''] = noted.split('@');
  const name = (path: string) => displayPath(rootRelative(path, roots));
  const sum = (count: 'added' | 'removed') => act.reduce((total, change) => total + (change[count] ?? 0), 0);
  const counts = act.some(({ added }) => added !== undefined) ? ` +${sum('added')} -${sum('removed')}` : '';
  if (act.length > 1) {
    const paths = act.toReversed().map((change) => name(change.path));
    const more = paths.length > mostNamed ? ', …' : '';
    return `${kind} ${countOf(paths.length, 'file')}: ${paths.slice(0, mostNamed).join(', ')}${more}${counts}`;
  }
  if (states) {
    return `${kind} ${sanitize(command ?? '')}${kind === 'undo' ? '' : `: ${countOf(states.files, 'file')}`}`;
  }
  return `${kind} ${name(at)}${to === undefined ? '' : ` -> ${name(to)}`}${counts}`;
}

async function undoIn(given: UndoParams, context: PlanContext, session: Session): Promise<ChangeAnswer> {
  const { signal, workspace } = context;
  const isDry = given.dry_run;
  const history = await session.history();
  const options = { workspace: rooted(workspace), dryRun: isDry, signal };
  const undone = await history.undo(await selected(given, context), options);
  const { changes, left } = undone;
  const [first] = left;
  if (changes.length === 0 && first) throw first.error;
  if (changes.length === 0) return said('Nothing to take back.');
  const files = eachOnce(undone.files);
  // Each is read anew, or its text named, before it is changed again.
  if (!isDry)
    for (const { path: at, from = at } of files)
      for (const each of [at, from]) session.knownFiles.forget(each);
  const name = (each: string) => displayPath(rootRelative(each, workspace.roots));
  const lines = [
    headline(undone, workspace.roots, isDry),
    ...(['made', 'changed', 'moved', 'removed'] as const).flatMap((did) => {
      const done = files.filter((file) => file.did === did);
      const all = done.map(({ from, path: at }) => `${from ? `${name(from)} -> ` : ''}${name(at)}`);
      const names = [
        ...all.slice(0, mostFiles),
        ...(all.length > mostFiles ? [`… ${all.length} in all`] : []),
      ];
      return names.length > 0 ? [`${did} ${names.join(', ')}`] : [];
    }),
    ...shortened(left, ({ path: at, error }) => `left ${name(at)}: ${sanitize(error.message)}`),
  ];
  let diff = '';
  for (const { path: at, was, is } of files) {
    const maxCharacters = diffCharacters - diff.length;
    if ((!was && !is) || maxCharacters <= 0) continue;
    diff += (await unifiedDiff(was, is, { path: rootRelative(at, workspace.roots), maxCharacters })).text;
  }
  // Of a longer one the lines say enough: who made the changes knows what was there before them.
  return said([...lines, ...(isDry || diff.length <= shortDiff ? [diff] : [])].join('\n'));
}

/** What was taken back, and how to have it again. */
function headline({ changes }: Undone, roots: readonly string[], isDry: boolean): string {
  const acts = groupChanges(changes.map(({ change }) => change));
  const [newest] = acts;
  const what = acts.length === 1 && newest ? subjectOf(newest, roots) : countOf(acts.length, 'change');
  if (isDry) return `Would take back ${what}`;
  const redo = changes.find(({ by }) => by !== undefined)?.by;
  return `Took back ${what}${redo === undefined ? '' : ` (to redo: undo since=${redo})`}`;
}

/** Each file by what was there first and is there in the end, however many changes of it were taken back. */
function eachOnce(files: readonly UndoneFile[]): UndoneFile[] {
  const whole = new Map<string, UndoneFile>();
  for (const file of files) {
    const key = `${file.from ?? ''}\0${file.path}`;
    const { did, was } = whole.get(key) ?? file;
    // What was made again and then changed was made.
    whole.set(key, { ...file, did: file.did === 'changed' ? did : file.did, was });
  }
  return [...whole.values()];
}

const said = (text: string): ChangeAnswer => ({ text });
