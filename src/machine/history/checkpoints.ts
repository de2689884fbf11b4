import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Workspace } from '../../core/tool.ts';
import { limited } from '../limited.ts';
import { outermost } from '../paths/inside.ts';
import { couldHoldProtected, refuseProtected } from '../paths/protected-paths.ts';
import { rooted } from '../paths/workspace.ts';
import type { GitSource } from './ask-git.ts';
import { newChange, type Change, type States } from './entry.ts';
import type { Log } from './log.ts';
import { Shadow, workTreeOf, type Snapshot } from './shadow.ts';

/** The result of taking a checkpoint before a command. */
export interface CheckpointOutcome {
  /** A note for the caller, given once. */
  readonly note?: string;
  /** False: undo cannot bring back what the command changes. */
  readonly isKept: boolean;
  /** Tells that the command has ended, after which a second snapshot is taken. Nobody waits for it. */
  ended(): void;
}

interface Options extends GitSource {
  /** The folder of the shadow repositories; undefined where none can be made. */
  readonly shadows: string | undefined;
  logOf(root: string): Log;
}

/** The time a call waits for its checkpoint; the first one may take longer. */
const patienceMs = 4000;
/** The time without a snapshot after which a shadow repository is tidied. */
const quietMs = 60_000;

/**
 * Checkpoints of work trees, in shadow repositories, before commands that can do anything to them. Does
 * nothing before it is used.
 */
export class WorkTreeStates {
  readonly #options: Options;
  /** Runs one git at a time. */
  readonly #inTurn = limited(1);
  /** Snapshots that have not begun, by the folder of their shadow repository. */
  readonly #next = new Map<string, Promise<Snapshot>>();
  readonly #givenNotes = new Set<string>();
  #endings: Promise<unknown> = Promise.resolve();
  #tidying: NodeJS.Timeout | undefined;

  constructor(options: Options) {
    this.#options = options;
  }

  /**
   * Takes a checkpoint of the work tree that a folder belongs to, and logs the command; undefined for a
   * folder in no work tree. Never rejects; a snapshot that takes longer than a moment goes on by itself.
   */
  async take(
    folder: string,
    command: string,
    workspace: Workspace,
    signal: AbortSignal,
  ): Promise<CheckpointOutcome | undefined> {
    try {
      const shadow = this.#shadowOf(folder, workspace);
      if (!shadow || signal.aborted) return undefined;
      const isFirst = shadow.current === undefined;
      const late = isFirst
        ? `the first state of ${shadow.top} is still being kept`
        : `keeping the files takes longer than ${patienceMs / 1000} s`;
      const patience = isFirst && this.#givenNotes.has(notUndone(late)) ? 0 : patienceMs;
      const snapshot = await inTime(this.#snapshot(shadow), patience);
      if (signal.aborted) return undefined;
      if (snapshot === 'late') return this.#withoutUndo(late);
      const change: Change = { ...newChange('command', folder, { kind: 'ran' }), command };
      const log = this.#options.logOf(outermost(shadow.scope, workspace.roots) ?? workspace.home);
      // The line is the command's place in the history; it counts when the command has ended.
      log.append(change);
      const ended = () => {
        const ending = this.#close(shadow, change, snapshot.tree, log);
        this.#endings = Promise.allSettled([this.#endings, ending]);
      };
      const { skipped } = snapshot;
      const note = skipped.length > 0 ? this.#once(noteOnSkipped(skipped)) : undefined;
      return { ...(note !== undefined && { note }), isKept: true, ended };
    } catch (error) {
      return this.#withoutUndo(error instanceof Error ? error.message : String(error));
    }
  }

  /** Takes the first snapshot of a folder's work tree, the slowest. Nobody waits for it; never throws. */
  begin(folder: string, workspace: Workspace): void {
    const takeFirst = async () => {
      const shadow = this.#shadowOf(folder, workspace);
      if (shadow && !shadow.current) await this.#snapshot(shadow);
    };
    // The next command tries again, and reports a failure.
    takeFirst().catch(() => {});
  }

  /** Tells if the first snapshot is complete, and undo would bring back each of these paths below the top. */
  async isReady(folder: string, names: readonly string[], workspace: Workspace): Promise<boolean> {
    try {
      const shadow = this.#shadowOf(folder, workspace);
      if (!shadow?.current) return false;
      const { tree } = await this.#snapshot(shadow);
      const listed = new Set((await shadow.ask(['ls-tree', '-r', '-z', '--name-only', tree])).split('\0'));
      return names.every((name) => {
        const path = join(shadow.top, name);
        refuseProtected({ path });
        const found = lstatSync(path, { throwIfNoEntry: false });
        const isBack = !found || (listed.has(name) && !(found.isSymbolicLink() && couldHoldProtected(path)));
        return isBack && !rooted(workspace).denies(path, 'write');
      });
    } catch {
      // A path that is protected, or cannot be looked at, would not come back.
      return false;
    }
  }

  /**
   * Opens the shadow repository with a command's trees. Throws if they are gone, or not for this workspace.
   */
  open(states: States, { roots }: Workspace): Shadow {
    const shadow = new Shadow(this.#options.shadows ?? '', states, this.#options, roots);
    if (!outermost(shadow.scope, roots)) throw new Error('it was in a folder that is not open');
    if (!shadow.has(states.before)) throw new Error('the state before it is gone');
    return shadow;
  }

  /** Waits a moment for the snapshots after commands that have ended. */
  async settled(): Promise<void> {
    await inTime(this.#endings, patienceMs);
  }

  #shadowOf(folder: string, { roots }: Workspace): Shadow | undefined {
    const { shadows } = this.#options;
    const tree = shadows === undefined ? undefined : workTreeOf(folder, roots);
    return tree && new Shadow(shadows ?? '', tree, this.#options, roots);
  }

  /** Takes a snapshot. Callers that come while one is taken share the next. */
  #snapshot(shadow: Shadow): Promise<Snapshot> {
    const waiting = this.#next.get(shadow.folder);
    if (waiting) return waiting;
    const snapshot = this.#inTurn(async () => {
      this.#next.delete(shadow.folder);
      clearTimeout(this.#tidying);
      const tidy = () => {
        // A failure is no matter: the next snapshot sets the timer again.
        this.#inTurn(() => shadow.tidy()).catch(() => {});
      };
      this.#tidying = setTimeout(tidy, quietMs).unref();
      return shadow.snapshot();
    });
    this.#next.set(shadow.folder, snapshot);
    return snapshot;
  }

  /** Logs what a command has changed, if anything. */
  async #close(shadow: Shadow, change: Change, before: string, log: Log): Promise<void> {
    const { tree: after } = await this.#snapshot(shadow);
    if (after === before) return;
    const names = await shadow.ask(['diff-tree', '-r', '-z', '--name-only', before, after]);
    const { top, scope } = shadow;
    const states = { top, scope, before, after, files: names.split('\0').length - 1 };
    log.append({ ...change, states });
  }

  /** Returns a note the first time; undefined when it was given before. */
  #once(note: string): string | undefined {
    if (this.#givenNotes.has(note)) return undefined;
    this.#givenNotes.add(note);
    return note;
  }

  #withoutUndo(why: string): CheckpointOutcome {
    const note = this.#once(notUndone(why));
    return { ...(note !== undefined && { note }), isKept: false, ended() {} };
  }
}

const notUndone = (why: string): string => `no undo of this: ${why}`;

const mostNamed = 5;

function noteOnSkipped(skipped: readonly string[]): string {
  const names = skipped.slice(0, mostNamed).map((name) => JSON.stringify(name));
  return `undo would not bring back ${skipped.length} too large or not readable: ${names.join(', ')}`;
}

/** Waits for a task, but not longer than this; a late one goes on by itself. */
function inTime<T>(task: Promise<T>, ms: number): Promise<T | 'late'> {
  // A late task may fail when nobody waits for it.
  task.catch(() => {});
  return Promise.race([task, sleep(ms, 'late' as const, { ref: false })]);
}
