import { lstatSync } from 'node:fs';
import { readPlain } from '../folders.ts';
import { ToolcribError } from '../../core/errors.ts';
import type { RootedWorkspace } from '../paths/workspace.ts';
import type { Place } from '../paths/place.ts';
import { atPlace, changedSince, removeEmpty } from './at-place.ts';
import type { KeptStates } from './checkpoints.ts';
import { newChange, type Change, type Facts } from './entry.ts';
import { sameFacts } from './facts.ts';
import type { Log } from './log.ts';
import { gone, relocateChange, type Move } from './relocate.ts';
import { restoreTree, type LeftFile, type UndoneFile } from './restore-tree.ts';
import { isConcerned, type Selection } from './select-changes.ts';
import { writeFile } from './write.ts';
import { unwritable } from './write-failure.ts';

/** What came of taking changes back. */
export interface Undone {
  /** What was taken back, newest first, and the id of the change that this made; none in a dry run. */
  readonly changes: readonly { readonly change: Change; readonly by?: string | undefined }[];
  /** Each path once for each change. */
  readonly files: readonly UndoneFile[];
  readonly left: readonly LeftFile[];
}

export interface UndoOptions {
  readonly workspace: RootedWorkspace;
  readonly dryRun: boolean;
  readonly signal: AbortSignal;
}

interface Undoing extends UndoOptions, Pick<Selection, 'paths'> {
  readonly log: Log;
  readonly change: Change;
  readonly states: KeptStates;
  /** What is larger is not removed: it could not be kept. */
  readonly mostBytes: number;
  /** In a dry run: paths that a newer change, taken back first, would leave as this one left them. */
  readonly assumed: ReadonlySet<string>;
}

interface TakenBack {
  readonly files: readonly UndoneFile[];
  readonly left?: readonly LeftFile[];
  readonly by?: string | undefined;
}

const mostShown = 1024 * 1024;

/** Takes changes back one after the other, as `History.undo` says. */
export async function undoChanges(
  changes: readonly Pick<Undoing, 'log' | 'change'>[],
  { last: most, ...given }: Omit<Undoing, 'log' | 'change' | 'assumed'> & Pick<Selection, 'last'>,
): Promise<Undone> {
  const undone: { change: Change; by?: string | undefined }[] = [];
  const [files, left]: [UndoneFile[], LeftFile[]] = [[], []];
  const assumed = new Set<string>();
  for (const { log, change } of changes) {
    if (undone.length === most) break;
    try {
      if (given.signal.aborted) throw new ToolcribError('CANCELLED', 'The call was cancelled.');
      const back = await takeBack({ ...given, log, change, assumed });
      left.push(...(back.left ?? []));
      if (back.files.length === 0) continue;
      undone.push({ change, by: back.by });
      files.push(...back.files);
      for (const { path, from } of back.files) assumed.add(path).add(from ?? path);
    } catch (error) {
      left.push({ path: change.path, error: unwritable(change.path, error) });
    }
  }
  return { changes: undone, files, left };
}

function takeBack(undoing: Undoing): Promise<TakenBack> {
  const { step, before } = undoing.change;
  if (step === 'command') return commandBack(undoing);
  return step === 'write' && before ? writeBack(undoing, before) : moveBack(undoing);
}

/** An edited or replaced file gets its old content. */
async function writeBack(undoing: Undoing, before: Facts): Promise<TakenBack> {
  const { log, change, dryRun, assumed } = undoing;
  const { path } = change;
  const is = log.content(before.hash ?? '');
  if (!is) throw gone(change.id);
  if (dryRun && assumed.has(path)) return { files: [{ path, did: 'changed', is }] };
  let was: Buffer | undefined;
  const written = await atPlace(path, { ...undoing, make: false }, (place) =>
    writeFile(
      log,
      place,
      async (found) => {
        was = found?.bytes;
        if (!found || (await found.hash()) !== change.after?.hash) throw changedSince(path);
        return dryRun ? undefined : { bytes: is };
      },
      aboutUndoing(undoing),
    ),
  );
  return { files: [{ path, did: 'changed', was, is }], by: written?.change.id };
}

/** What was made goes into the history, what was removed comes out of it, and what was moved moves back. */
async function moveBack(undoing: Undoing): Promise<TakenBack> {
  const { log, change, dryRun, assumed, mostBytes, workspace } = undoing;
  const { id, step, path, to: moved = path, after, made = [] } = change;
  const trash = log.trashOf(id);
  const isKept = step === 'remove';
  if (isKept && !lstatSync(trash, { throwIfNoEntry: false })) throw gone(id);
  const is = isKept ? contentToShow(trash) : undefined;
  const did = isKept ? 'made' : step === 'move' ? 'moved' : 'removed';
  const file = { path, did, ...(step === 'move' && { from: moved }), is } as const;
  if (dryRun && (assumed.has(path) || assumed.has(moved))) return { files: [file] };
  const look = (found: Facts | undefined) => {
    if (!isKept && !sameFacts(found, after)) throw changedSince(moved);
  };
  const relocate = (places: Pick<Move, 'from' | 'to'>) =>
    relocateChange(log, { ...places, about: aboutUndoing(undoing), look, mostBytes });
  let was: Buffer | undefined;
  const toPath = (from?: Place) =>
    atPlace(path, { ...undoing, make: true }, (to) => relocate({ ...(from && { from }), to }));
  const fromMoved = (from: Place) => {
    if (step === 'move') return toPath(from);
    was = contentToShow(from.at);
    return relocate({ from });
  };
  const back = isKept ? await toPath() : await atPlace(moved, { ...undoing, make: false }, fromMoved);
  if (back && !dryRun) await removeEmpty(made, workspace);
  return { files: [{ ...file, was }], by: back?.id };
}

/** The files of a work tree become what they were before a command, as far as they are what it left. */
async function commandBack({ log, change, states, ...undoing }: Undoing): Promise<TakenBack> {
  const { workspace, dryRun, paths, signal, assumed } = undoing;
  if (!change.states) throw gone(change.id);
  try {
    const { shadow, ask, after } = await states.open(change.states, workspace);
    const undo: Change = {
      ...newChange('command', { path: change.path }, { kind: 'undo', undoes: change.id }),
      ...(paths.length > 0 && { part: true }),
      ...(change.command !== undefined && { command: change.command }),
      states: { ...change.states, before: after, after: change.states.before },
    };
    if (!dryRun) log.append(undo);
    const restored = await restoreTree({
      shadow,
      ask,
      from: after,
      to: change.states.before,
      workspace,
      dryRun,
      signal,
      isWanted: (path) => isConcerned(path, paths) && !workspace.denies(path, 'write'),
      isAssumed: (path) => assumed.has(path),
    });
    if (!dryRun && restored.files.length === 0) log.drop(undo.id);
    return { ...restored, by: undo.id };
  } catch (error) {
    throw error instanceof ToolcribError ? error : gone(change.id, (error as Error).message);
  }
}

const aboutUndoing = ({ change, signal, dryRun }: Undoing) => ({
  kind: 'undo',
  undoes: change.id,
  signal,
  dryRun,
});

/** Undefined for what is no file, or too large. What was swapped for a link is not followed. */
const contentToShow = (path: string): Buffer | undefined => readPlain(path, ({ size }) => size <= mostShown);
