import * as z from 'zod';
import { ToolcribError } from '../../core/errors.ts';
import { flag, list, path } from '../../core/params.ts';
import { defineTool, type Plan, type PlanContext, type Tool, type ToolResult } from '../../core/tool.ts';
import type { Change } from '../../machine/history/entry.ts';
import type { UndoneFile } from '../../machine/history/restore-tree.ts';
import type { Selection } from '../../machine/history/select-changes.ts';
import type { Undone } from '../../machine/history/undo.ts';
import { shownPath } from '../../machine/paths/shown-path.ts';
import { rooted } from '../../machine/paths/workspace.ts';
import { presentable } from '../../machine/presentable.ts';
import { diffAfterwards } from '../diff/unified-diff.ts';
import { nameInRoots } from '../name-in-roots.ts';
import { planChange } from '../plan-change.ts';
import type { Services } from '../services.ts';

const params = z.strictObject({
  last: z.int().min(1).max(1000).optional().describe('Take back the last so many changes'),
  since: z.string().max(100).optional().describe('Take back the change of this id and all after it'),
  paths: list(path('File or folder'), 'Only these'),
  dry_run: flag('Only show what would change'),
});
type Given = z.output<typeof params>;

/** As many of a list as a model can use. */
const mostListed = 50;
const diffCharacters = 8_000;

/** Lists what can be taken back, edits and commands alike, or takes it back, which is a change itself. */
export const undo = (services: Services): Tool =>
  defineTool({
    name: 'undo',
    program: 'files',
    title: 'Undo changes',
    description:
      'Without last and since, list what can be taken back, newest first: edits, moves, deletions, ' +
      'and what commands did to files that git does not ignore. ' +
      'With one of them, take it back; the answer says how to redo. Files changed by others since are left.',
    effects: ['write'],
    params,
    plan: (given, context) => planUndo(given, context, services),
    run: ({ work: given }, context) =>
      isListing(given) ? listChanges(given, context, services) : undoIn(given, context, services),
  });

const isListing = ({ last, since }: Given): boolean => last === undefined && since === undefined;

async function planUndo(given: Given, context: PlanContext, services: Services): Promise<Plan<Given>> {
  if (given.last !== undefined && given.since !== undefined)
    throw new ToolcribError('ARG_INVALID', 'last and since: only one of them.', 'Leave one of them out.');
  const { paths } = given;
  if (isListing(given)) {
    const dryRun = async () => ({ result: await listChanges(given, context, services) });
    const listing = { ...given, dry_run: true };
    return planChange({ verb: 'list', given: listing, paths, names: 'changes', dryRun }, context);
  }
  const names = given.since === undefined ? `the last ${given.last}` : `all since ${given.since}`;
  const dryRun = async () => ({ result: await undoIn({ ...given, dry_run: true }, context, services) });
  const change = { verb: 'undo', given, paths, names: [names, ...paths].join(' '), dryRun, itself: true };
  return planChange(change, context);
}

const selected = async ({ last, since, paths }: Given, { workspace }: PlanContext): Promise<Selection> => ({
  last,
  since,
  paths: await Promise.all(paths.map((each) => workspace.resolve(each))),
});

async function listChanges(given: Given, context: PlanContext, services: Services): Promise<ToolResult> {
  const history = await services.history();
  const { roots } = context.workspace;
  const changes = await history.list(await selected(given, context), roots);
  const shown = shortened(changes, (change) => {
    const time = new Date(change.at).toISOString().slice(0, 19).replace('T', ' ');
    return `${change.id}  ${time}Z  ${subjectOf(change, roots)}`;
  });
  if (changes.length === 0) return said('Nothing to take back.');
  return said([...shown, '[undo last=1 takes back the newest]'].join('\n'));
}

/** A line for each of the first, and the number of the others. */
const shortened = <Item>(items: readonly Item[], line: (item: Item) => string): string[] => [
  ...items.slice(0, mostListed).map(line),
  ...(items.length > mostListed ? [`… and ${items.length - mostListed} more`] : []),
];

/** A change in some words: `edit src/a.ts +1 -2`, `ran npm install: 3 files`. */
function subjectOf(
  { kind, path: at, to, command, states, added, removed }: Change,
  roots: readonly string[],
) {
  const name = shownPath(nameInRoots(at, roots));
  if (states) {
    return `${kind} ${presentable(command ?? '')}${kind === 'undo' ? '' : `: ${countOf(states.files)}`}`;
  }
  const target = to === undefined ? '' : ` -> ${shownPath(nameInRoots(to, roots))}`;
  return `${kind} ${name}${target}${added === undefined ? '' : ` +${added} -${removed ?? 0}`}`;
}

const countOf = (count = 0, what = 'file'): string =>
  `${count.toLocaleString('en')} ${what}${count === 1 ? '' : 's'}`;

async function undoIn(given: Given, context: PlanContext, services: Services): Promise<ToolResult> {
  const { signal, workspace } = context;
  const isDry = given.dry_run;
  const history = await services.history();
  const options = { workspace: rooted(workspace), dryRun: isDry, signal };
  const undone = await history.undo(await selected(given, context), options);
  const { changes, files, left } = undone;
  const [first] = left;
  if (changes.length === 0 && first) throw first.error;
  if (changes.length === 0) return said('Nothing to take back.');
  // Each is read anew, or its text named, before it is changed again.
  if (!isDry)
    for (const { path: at, from = at } of files) for (const each of [at, from]) services.known.forget(each);
  const name = (each: string) => shownPath(nameInRoots(each, workspace.roots));
  const lines = [
    headline(undone, workspace.roots, isDry),
    ...shortened(files, ({ did, from, path: at }) => `${did} ${from ? `${name(from)} -> ` : ''}${name(at)}`),
    ...shortened(left, ({ path: at, error }) => `left ${name(at)}: ${presentable(error.message)}`),
  ];
  return said(`${lines.join('\n')}\n${await diffOf(files, workspace.roots)}`);
}

/** What was taken back, and how to have it again. */
function headline({ changes }: Undone, roots: readonly string[], isDry: boolean): string {
  const [newest] = changes;
  const what =
    changes.length === 1 && newest ? subjectOf(newest.change, roots) : countOf(changes.length, 'change');
  if (isDry) return `Would take back ${what}`;
  const redo = changes.find(({ by }) => by !== undefined)?.by;
  return `Took back ${what}${redo === undefined ? '' : ` (to redo: undo since=${redo})`}`;
}

/** The differences of files, by what each was first and is last, as far as they are short. */
async function diffOf(files: readonly UndoneFile[], roots: readonly string[]): Promise<string> {
  const whole = new Map<string, UndoneFile>();
  for (const file of files) whole.set(file.path, { ...file, was: (whole.get(file.path) ?? file).was });
  let text = '';
  for (const { path: at, was, is } of whole.values()) {
    const maxCharacters = diffCharacters - text.length;
    if ((!was && !is) || maxCharacters <= 0) continue;
    text += (await diffAfterwards(was, is, { path: nameInRoots(at, roots), maxCharacters })).text;
  }
  return text;
}

const said = (text: string): ToolResult => ({ content: [{ type: 'text', text }] });
