import { join } from 'node:path';
import { ToolcribError } from '../../core/errors.ts';
import { limited } from '../limited.ts';
import type { Place } from '../paths/place.ts';
import { shownPath } from '../paths/shown-path.ts';
import type { Run } from '../processes/process.ts';
import type { Git } from './ask-git.ts';
import { WorkTreeStates, type Checkpoints } from './checkpoints.ts';
import type { About, Change } from './entry.ts';
import { Log, logsFor } from './log.ts';
import { relocateChange, type Look } from './relocate.ts';
import { selectIn, type Selection } from './select-changes.ts';
import { tidyLog, type Limits } from './tidy-log.ts';
import { undoChanges, type Undone, type UndoOptions } from './undo.ts';
import { writeFile, type Decide, type Written } from './write.ts';
import { noHistory } from './write-failure.ts';

/**
 * The one way to change files: each is whole, the old one or the new one, whenever the process is ended; what was there
 * before is kept; one change of this process is made at a time; and another program's change is never lost.
 *
 * Failures are a ToolcribError, and then nothing has changed: PATH_DENIED, PATH_EXISTS, PATH_NOT_FOUND,
 * PATH_NOT_REGULAR, STALE_FILE (another program was at it meanwhile), TOO_LARGE, CANCELLED, and WRITE_FAILED (the disk
 * is full, nothing can be kept).
 */
export interface History {
  /**
   * Reads a file (undefined when there is none), lets `decide` say what it is to be, and replaces it in one step.
   * Undefined when that is nothing else than it is, or nothing; what `decide` throws is thrown. Mode and owner stay.
   */
  write(place: Place, decide: Decide, about: About): Promise<Written | undefined>;
  /** Moves a file, link or folder into the history; `look` may still refuse by throwing. */
  remove(place: Place, about: About, look?: Look): Promise<Change>;
  /** Moves a file, link or folder, never onto something. */
  move(from: Place, to: Place, about: About): Promise<Change>;
  /** What can be taken back of the changes with all their paths in the roots, newest first. Changes nothing. */
  list(selection: Selection, roots: readonly string[]): Promise<Change[]>;
  /**
   * Takes changes back, newest first, each as far as what it left is still there, and tells what was left and why. That
   * makes changes itself. Throws NOT_FOUND for an id that is unknown, forgotten, or of another root.
   */
  undo(selection: Selection, options: UndoOptions): Promise<Undone>;
  /** States of whole work trees. */
  readonly checkpoint: Checkpoints;
  /** Waits a moment for what is being noted down of commands that have ended. */
  settled(): Promise<void>;
}

export interface HistoryOptions extends Partial<Limits> {
  /** The state folder of this user; without one every change is refused. */
  readonly state: string | undefined;
  readonly run: Run;
  /** The git of this machine; undefined when there is none. */
  git(): Promise<Git | undefined>;
}

/** At the first change, and after so many, it is looked for what is too much. */
const tidyEvery = 200;

/** Touches nothing before it is used. */
export function createHistory({ state, run, git, ...given }: HistoryOptions): History {
  const limits: Limits = { quotaBytes: 1024 ** 3, mostChanges: 10_000, ...given };
  const { quotaBytes: mostBytes } = limits;
  const histories = state && join(state, 'history');
  const shadows = state && join(state, 'checkpoints');
  const inTurn = limited(1);
  const counts = new Map<string, number>();
  const logAt = (root: string): Log => {
    if (histories === undefined) throw noHistory('the folder for it', 'is not known');
    return new Log(root, histories);
  };
  const states = new WorkTreeStates({ shadows, run, git, logOf: logAt });
  const select = (selection: Selection, roots: readonly string[]) =>
    histories === undefined ? [] : selectIn(logsFor(roots, histories), selection, roots);

  const changing = async <T>({ root, path }: Place, { signal }: About, work: (log: Log) => Promise<T>) => {
    const log = logAt(root);
    return inTurn(async () => {
      // Else it would be taken for something that a command has just done.
      await states.settled();
      if (signal?.aborted)
        throw new ToolcribError('CANCELLED', `${shownPath(path)}: was not changed; the call was cancelled.`);
      const done = await work(log);
      const count = counts.get(root) ?? 0;
      counts.set(root, count + 1);
      if (count % tidyEvery === 0) tidyLog(log, limits);
      return done;
    });
  };

  return {
    write: (place, decide, about) => changing(place, about, (log) => writeFile(log, place, decide, about)),
    move: (from, to, about) =>
      changing(from, about, (log) => relocateChange(log, { from, to, about, mostBytes })),
    remove: (from, about, look) =>
      changing(from, about, (log) => relocateChange(log, { from, about, look, mostBytes })),
    async list(selection, roots) {
      await states.settled();
      return select(selection, roots).map(({ change }) => change);
    },
    undo: (selection, options) =>
      inTurn(async () => {
        await states.settled();
        const given = { ...options, ...selection, states, mostBytes };
        return undoChanges(select(selection, options.workspace.roots), given);
      }),
    checkpoint: states,
    settled: () => states.settled(),
  };
}
