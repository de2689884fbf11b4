import { lstatSync } from 'node:fs';
import { readPlain } from '../folders.ts';
import { ToolcribError } from '../../core/errors.ts';
import type { RootedWorkspace } from '../paths/workspace.ts';
import type { Place } from '../paths/place.ts';
import { atPlace, changedSince, removeEmpty } from './at-place.ts';
import type { KeptStates } from './checkpoints.ts';
import { newChange, type Change, type Facts } from './entry.ts';
import { factsAt, sameFacts } from './facts.ts';
import type { Log } from './log.ts';
import { gone, refuseMovingTo, relocateChange } from './relocate.ts';
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

export interface Undoing extends UndoOptions, Pick<Selection, 'paths'> {
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
  if (step === 'move') return moveBack(undoing);
  if (step === 'remove') return bringBack(undoing);
  return step === 'write' && before ? writeBack(undoing, before) : takeAway(undoing);
}

/** An edited or replaced file gets its old content. */
async function writeBack(undoing: Undoing, before: Facts): Promise<TakenBack> {
  const { log, change, dryRun, assumed } = undoing;
  const { path } = change;
  const is = await log.content(before.hash ?? '');
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

/** A file that was made, or had come back, goes into the history. */
async function takeAway(undoing: Undoing): Promise<TakenBack> {
  const { log, change, dryRun, assumed, mostBytes, workspace } = undoing;
  const { path } = change;
  if (dryRun && assumed.has(path)) return { files: [{ path, did: 'removed' }] };
  const look = (found: Facts | undefined) => {
    if (!sameFacts(found, change.after)) throw changedSince(path);
  };
  let was: Buffer | undefined;
  const removal = await atPlace(path, { ...undoing, make: false }, async (from) => {
    was = contentToShow(from.at);
    if (dryRun) return look(await factsAt(from.at));
    return relocateChange(log, { from, about: aboutUndoing(undoing), look, mostBytes });
  });
  if (removal) await removeEmpty(change.made ?? [], workspace);
  return { files: [{ path, did: 'removed', was }], by: removal?.id };
}

/** What was removed comes back. */
async function bringBack(undoing: Undoing): Promise<TakenBack> {
  const { log, change, dryRun, assumed, mostBytes } = undoing;
  const { path } = change;
  const trash = log.trashOf(change.id);
  if (!lstatSync(trash, { throwIfNoEntry: false })) throw gone(change.id);
  const files = [{ path, did: 'made', is: contentToShow(trash) }] as const;
  if (dryRun && assumed.has(path)) return { files };
  const back = await atPlace(path, { ...undoing, make: true }, async (to) => {
    refuseOccupied(to);
    return dryRun ? undefined : relocateChange(log, { to, about: aboutUndoing(undoing), mostBytes });
  });
  return { files, by: back?.id };
}

async function moveBack(undoing: Undoing): Promise<TakenBack> {
  const { log, change, dryRun, assumed, signal, mostBytes, workspace } = undoing;
  const { path, to: moved = '' } = change;
  const files = [{ path, did: 'moved', from: moved }] as const;
  if (dryRun && (assumed.has(path) || assumed.has(moved))) return { files };
  const look = (found: Facts | undefined) => {
    if (!sameFacts(found, change.after)) throw changedSince(moved);
  };
  const back = await atPlace(moved, { ...undoing, make: false }, (from) =>
    atPlace(path, { ...undoing, make: true }, async (to) => {
      const found = await factsAt(from.at);
      look(found);
      if (from.path.toLowerCase() !== to.path.toLowerCase()) refuseOccupied(to);
      if (dryRun && found)
        return void (await refuseMovingTo(from, { kind: found.kind, to: to.path, signal }));
      return relocateChange(log, { from, to, about: aboutUndoing(undoing), look, mostBytes });
    }),
  );
  if (back) await removeEmpty(change.made ?? [], workspace);
  return { files, by: back?.id };
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

const aboutUndoing = ({ change, signal }: Undoing) => ({ kind: 'undo', undoes: change.id, signal });

function refuseOccupied(place: Place): void {
  if (lstatSync(place.at, { throwIfNoEntry: false })) throw unwritable(place.path, { code: 'EEXIST' });
}

/** Undefined for what is no file, or too large. What was swapped for a link is not followed. */
const contentToShow = (path: string): Buffer | undefined => readPlain(path, ({ size }) => size <= mostShown);
