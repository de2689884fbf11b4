import { join } from 'node:path';
import { ToolcribError } from '../../core/errors.ts';
import { limited } from '../limited.ts';
import type { PathTarget } from '../paths/path-target.ts';
import { displayPath } from '../paths/display-path.ts';
import type { GitSource } from './ask-git.ts';
import { WorkTreeStates } from './checkpoints.ts';
import { togetherAs, type ChangeDetails, type Change } from './entry.ts';
import { noHistory } from './failures.ts';
import { Log, selectIn, type Selection } from './log.ts';
import { relocateChange, type RefuseRemoval } from './relocate.ts';
import { undoChanges, type UndoOutcome, type UndoOptions } from './undo.ts';
import { writeFile, type DecideContent, type WriteOutcome } from './write.ts';

export interface HistoryOptions extends GitSource {
  /** The state folder of this user; without one every change is refused. */
  readonly state: string | undefined;
  readonly mostChanges?: number;
}

/** The number of changes after which the log is tidied; the first one does so as well. */
const tidyEvery = 200;

/**
 * The one way to change files: each is whole, the old one or the new one, whenever the process is ended; what
 * was there before is kept; one change of this process is made at a time; and another program's change is
 * never lost.
 *
 * Failures are a ToolcribError, and then nothing has changed: PATH_DENIED, PATH_EXISTS, PATH_NOT_FOUND,
 * PATH_NOT_REGULAR, STALE_FILE (another program was at it meanwhile), TOO_LARGE, CANCELLED, and WRITE_FAILED
 * (the disk is full, nothing can be kept). Touches nothing before it is used.
 */
export class History {
  readonly #mostChanges: number;
  readonly #folder: string | undefined;
  readonly #states: WorkTreeStates;
  readonly #inTurn = limited(1);
  #changes = 0;

  constructor({ state, run, git, mostChanges = 10_000 }: HistoryOptions) {
    this.#mostChanges = mostChanges;
    this.#folder = state && join(state, 'history');
    const shadows = state && join(state, 'checkpoints');
    this.#states = new WorkTreeStates({ shadows, run, git, logOf: (root) => this.#logOf(root) });
  }

  /** Checkpoints of whole work trees. */
  get checkpoint(): Pick<WorkTreeStates, 'take' | 'begin' | 'isReady'> {
    return this.#states;
  }

  /**
   * Reads a file (undefined when there is none), lets `decide` say what it is to be, and replaces it in one
   * step. Undefined when that is nothing else than it is, or nothing; what `decide` throws is thrown. Mode
   * and owner stay.
   */
  write(place: PathTarget, decide: DecideContent, details: ChangeDetails): Promise<WriteOutcome | undefined> {
    return this.#change(place, details, (log) => writeFile(log, place, decide, details));
  }

  /** Moves a file, link or folder into the history; `inspect` may still refuse by throwing. */
  remove(from: PathTarget, details: ChangeDetails, inspect?: RefuseRemoval): Promise<Change> {
    return this.#change(from, details, (log) => relocateChange(log, { from, details, inspect }));
  }

  /** Moves a file, link or folder, never onto something. */
  move(from: PathTarget, to: PathTarget, details: ChangeDetails): Promise<Change> {
    return this.#change(from, details, (log) => relocateChange(log, { from, to, details }));
  }

  /**
   * Lists the changes that can be undone, with all their paths in the roots, newest first. Changes nothing.
   */
  async list(selection: Selection, roots: readonly string[]): Promise<Change[]> {
    await this.settled();
    return selectIn(this.#logsOf(roots), selection, roots).map(({ change }) => change);
  }

  /**
   * Undoes changes, newest first, each as far as its result is still there, and tells what was left and why.
   * That makes changes itself. Throws NOT_FOUND for an id that is unknown, forgotten, or of another root.
   */
  undo(selection: Selection, options: UndoOptions): Promise<UndoOutcome> {
    const { roots } = options.workspace;
    return this.#inTurn(async () => {
      await this.settled();
      const undoing = { ...options, ...selection, states: this.#states, kind: togetherAs('undo') };
      return undoChanges(selectIn(this.#logsOf(roots), selection, roots), { ...undoing, assumed: new Set() });
    });
  }

  /** Waits a moment for the snapshots after commands that have ended. */
  settled(): Promise<void> {
    return this.#states.settled();
  }

  #change<T>(
    { root, path }: PathTarget,
    { signal }: ChangeDetails,
    work: (log: Log) => Promise<T>,
  ): Promise<T> {
    return this.#inTurn(async () => {
      const log = this.#logOf(root);
      // Otherwise the change would be taken for one of a command that has just ended.
      await this.settled();
      if (signal?.aborted)
        throw new ToolcribError(
          'CANCELLED',
          `${displayPath(path)}: was not changed; the call was cancelled.`,
        );
      const done = await work(log);
      if (this.#changes % tidyEvery === 0) log.tidy(this.#mostChanges);
      this.#changes += 1;
      return done;
    });
  }

  #logOf(root: string): Log {
    if (this.#folder === undefined) throw noHistory('the folder for it', 'is not known');
    return new Log(root, this.#folder);
  }

  #logsOf(roots: readonly string[]): Log[] {
    return this.#folder === undefined ? [] : roots.map((root) => this.#logOf(root));
  }
}
