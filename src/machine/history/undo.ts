import { existsSync, lstatSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { ToolcribError } from '../../core/errors.ts';
import { readPlain } from '../../store/own-files.ts';
import { foldersAbove, removeMade, type PathTarget } from '../paths/path-target.ts';
import { areTogether, newChange, type Change, type Facts } from './entry.ts';
import { changedSince, noSuchChange, mostChangedBytes, unwritable } from './failures.ts';
import { relocateChange } from './relocate.ts';
import {
  restoreTree,
  type SkippedFile,
  type RestoreOutcome,
  type UndoRequest,
  type UndoneFile,
} from './restore-tree.ts';
import type { Logged } from './log.ts';
import { writeFile, type Before } from './write.ts';

/** The result of an undo. */
export interface UndoOutcome {
  /**
   * The changes that were undone, newest first, and the id of the change that this made; none in a dry run.
   */
  readonly changes: readonly { readonly change: Change; readonly by?: string | undefined }[];
  /** The changed paths, once for each change. */
  readonly files: readonly UndoneFile[];
  readonly left: readonly SkippedFile[];
}

export type UndoOptions = Pick<UndoRequest, 'workspace' | 'dryRun' | 'signal'>;

/** Undoes changes one after the other, as `History.undo` says. */
export async function undoChanges(changes: readonly Logged[], undoing: UndoRequest): Promise<UndoOutcome> {
  const { last, signal, assumed } = undoing;
  const undone: { change: Change; by?: string | undefined }[] = [];
  const [files, left]: [UndoneFile[], SkippedFile[]] = [[], []];
  let acts = 0;
  for (const logged of changes) {
    const { change } = logged;
    const newer = undone.at(-1)?.change;
    const isNext = !newer || !areTogether(newer, change);
    if (isNext && acts === last) break;
    try {
      if (signal.aborted) throw new ToolcribError('CANCELLED', 'The call was cancelled.');
      const undo = change.step === 'command' ? undoCommand : undoPathChange;
      const back = await undo(logged, undoing);
      left.push(...back.left);
      if (back.files.length === 0) continue;
      if (isNext) acts += 1;
      undone.push({ change, by: back.by });
      files.push(...back.files);
      for (const { path, from } of back.files) {
        assumed.add(path);
        if (from !== undefined) assumed.add(from);
      }
    } catch (error) {
      left.push({ path: change.path, error: unwritable(change.path, error) });
    }
  }
  return { changes: undone, files, left };
}

/**
 * Undoes a change of one path: a replaced file gets its old content, a made one goes into the history, a
 * removed one comes out of it, and a moved one moves back.
 */
async function undoPathChange({ log, change }: Logged, undoing: UndoRequest): Promise<RestoreOutcome> {
  const { workspace, dryRun, signal, assumed, kind } = undoing;
  const { id, step, path, to: moved = path, before, after } = change;
  const did = step === 'move' ? 'moved' : step === 'remove' ? 'made' : before ? 'changed' : 'removed';
  const backup = change.kept ?? (did === 'made' ? id : undefined);
  const backupPath = join(log.backups, backup ?? id);
  if ((did === 'changed' || did === 'made') && !lstatSync(backupPath, { throwIfNoEntry: false }))
    throw noSuchChange(id);
  // What is made or removed as a whole is not shown.
  const is = did === 'changed' ? readPlain(backupPath, ({ size }) => size <= mostChangedBytes) : undefined;
  const file = { path, did, ...(did === 'moved' && { from: moved }), is } as const;
  if (dryRun && (assumed.has(path) || assumed.has(moved))) return { files: [file], left: [] };
  const details = { kind, undoes: id, signal, dryRun };
  let was: Buffer | undefined;
  const replace = async (place: PathTarget) => {
    const decide = (found: Before | undefined) => {
      was = found?.bytes;
      if (found?.hash() !== after?.hash) throw changedSince(path);
      if (!is) throw noSuchChange(id);
      return dryRun ? undefined : { bytes: is };
    };
    return (await writeFile(log, place, decide, details))?.change;
  };
  const inspect = (found: Facts) => {
    if (did !== 'made' && !isDeepStrictEqual(found, after)) throw changedSince(moved);
  };
  const toPath = async (from?: PathTarget) =>
    // In a dry run its folder would be made first.
    dryRun && !existsSync(dirname(path))
      ? undefined
      : workspace.atPlace(path, { make: !dryRun, exactly: true }, (to) =>
          relocateChange(log, { from, to, details, backup, inspect }),
        );
  const fromMoved = (from: PathTarget) => {
    if (did === 'changed') return replace(from);
    return did === 'moved' ? toPath(from) : relocateChange(log, { from, details, backup, inspect });
  };
  const by = await (did === 'made' ? toPath() : workspace.atPlace(moved, { exactly: true }, fromMoved));
  if (by && !dryRun && did !== 'made') removeMade(foldersAbove(moved, log.root));
  return { files: [{ ...file, was }], left: [], by: by?.id };
}

/** Restores the files of a work tree from before a command, as far as they are what it left. */
async function undoCommand({ log, change }: Logged, undoing: UndoRequest): Promise<RestoreOutcome> {
  const { workspace, dryRun, paths, states, kind } = undoing;
  const { id, path, command } = change;
  if (!change.states) throw noSuchChange(id);
  try {
    const { before: to, after: from } = change.states;
    const shadow = states.open(change.states, workspace);
    const undo: Change = {
      ...newChange('command', path, { kind, undoes: id }),
      ...(paths.length > 0 && { part: true }),
      ...(command !== undefined && { command }),
      states: { ...change.states, before: from, after: to },
    };
    if (!dryRun) log.append(undo);
    const restored = await restoreTree(shadow, [from, to], undoing);
    if (!dryRun && restored.files.length === 0) log.drop(undo.id);
    return { ...restored, by: undo.id };
  } catch (error) {
    throw error instanceof ToolcribError ? error : noSuchChange(id, (error as Error).message);
  }
}
