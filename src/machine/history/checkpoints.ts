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

/** The outcome of keeping a state. */
export interface CheckpointOutcome {
  /** A note for the caller, given once. */
  readonly note?: string;
  /** Without it, nothing brings back what the command does. */
  readonly isKept: boolean;
  /** The command has ended: what it left is kept as well. Nobody waits for it. */
  ended(): void;
}

interface Options extends GitSource {
  /** The folder of the shadow repositories; undefined where nothing can be kept. */
  readonly shadows: string | undefined;
  logOf(root: string): Log;
}

/** So long a call waits for its state; the first one may take longer. */
const patienceMs = 4000;
/** After so long without a snapshot a shadow is tidied. */
const quietMs = 60_000;

/**
 * Keeps states of work trees, in shadow repositories, before commands that can do anything to them. Does
 * nothing before it is used.
 */
export class WorkTreeStates {
  readonly #options: Options;
  /** Never more than one git at a time. */
  readonly #inTurn = limited(1);
  readonly #next = new Map<string, Promise<Snapshot>>();
  readonly #said = new Set<string>();
  #endings: Promise<unknown> = Promise.resolve();
  #tidying: NodeJS.Timeout | undefined;

  constructor(options: Options) {
    this.#options = options;
  }

  /**
   * Keeps the state of the work tree that a folder belongs to, and notes the command down; undefined for a
   * folder in no work tree. Never rejects; what takes longer than a moment goes on by itself.
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
      const patience = isFirst && this.#said.has(notUndone(late)) ? 0 : patienceMs;
      const kept = await inTime(this.#keep(shadow), patience);
      if (signal.aborted) return undefined;
      if (kept === 'late') return this.#notKept(late);
      const change: Change = { ...newChange('command', folder, { kind: 'ran' }), command };
      const log = this.#options.logOf(outermost(shadow.scope, workspace.roots) ?? workspace.home);
      // This line is its place in the history; it counts when it has ended.
      log.append(change);
      const ended = () => {
        const ending = this.#close(shadow, change, kept.tree, log);
        this.#endings = Promise.allSettled([this.#endings, ending]);
      };
      return { ...(kept.left.length > 0 && this.#once(noteOf(kept.left))), isKept: true, ended };
    } catch (error) {
      return this.#notKept(error instanceof Error ? error.message : String(error));
    }
  }

  /**
   * Takes the first state of a folder's work tree, which takes longest. Nobody waits for it; never throws.
   */
  begin(folder: string, workspace: Workspace): void {
    const keepFirst = async () => {
      const shadow = this.#shadowOf(folder, workspace);
      if (shadow && !shadow.current) await this.#keep(shadow);
    };
    // It is tried again, and told, before the first command.
    keepFirst().catch(() => {});
  }

  /**
   * True when the first state is complete, and undo would bring back each of these paths below the top of the
   * tree.
   */
  async isReady(folder: string, names: readonly string[], workspace: Workspace): Promise<boolean> {
    try {
      const shadow = this.#shadowOf(folder, workspace);
      if (!shadow?.current) return false;
      const { tree } = await this.#keep(shadow);
      const kept = new Set((await shadow.ask(['ls-tree', '-r', '-z', '--name-only', tree])).split('\0'));
      return names.every((name) => {
        const path = join(shadow.top, name);
        refuseProtected({ path });
        const found = lstatSync(path, { throwIfNoEntry: false });
        const isBack = !found || (kept.has(name) && !(found.isSymbolicLink() && couldHoldProtected(path)));
        return isBack && !rooted(workspace).denies(path, 'write');
      });
    } catch {
      // What cannot be looked at, or is protected, would not come back.
      return false;
    }
  }

  /**
   * The shadow that the states of a command are in. Throws where they are gone, or not for this workspace.
   */
  open(states: States, { roots }: Workspace): Shadow {
    const shadow = new Shadow(this.#options.shadows ?? '', states, this.#options, roots);
    if (!outermost(shadow.scope, roots)) throw new Error('it was in a folder that is not open');
    if (!shadow.has(states.before)) throw new Error('the state before it is gone');
    return shadow;
  }

  /** Waits a moment for what is being noted down of commands that have ended. */
  async settled(): Promise<void> {
    await inTime(this.#endings, patienceMs);
  }

  #shadowOf(folder: string, { roots }: Workspace): Shadow | undefined {
    const { shadows } = this.#options;
    const tree = shadows === undefined ? undefined : workTreeOf(folder, roots);
    return tree && new Shadow(shadows ?? '', tree, this.#options, roots);
  }

  /** Keeps the next state, which all share who come while one is taken. */
  #keep(shadow: Shadow): Promise<Snapshot> {
    const waiting = this.#next.get(shadow.folder);
    if (waiting) return waiting;
    const kept = this.#inTurn(async () => {
      this.#next.delete(shadow.folder);
      clearTimeout(this.#tidying);
      // It keeps no process alive, and is tried again after the next.
      const tidy = () => this.#inTurn(() => shadow.tidy()).catch(() => {});
      this.#tidying = setTimeout(() => void tidy(), quietMs).unref();
      return shadow.snapshot();
    });
    this.#next.set(shadow.folder, kept);
    return kept;
  }

  /** Notes down what a command has left, unless it has changed nothing. */
  async #close(shadow: Shadow, change: Change, before: string, log: Log): Promise<void> {
    const { tree: after } = await this.#keep(shadow);
    if (after === before) return;
    const names = await shadow.ask(['diff-tree', '-r', '-z', '--name-only', before, after]);
    const { top, scope } = shadow;
    const states = { top, scope, before, after, files: names.split('\0').length - 1 };
    log.append({ ...change, states });
  }

  #once(note: string): { note?: string } {
    return this.#said.has(note) ? {} : this.#said.add(note) && { note };
  }

  #notKept(why: string): CheckpointOutcome {
    return { ...this.#once(notUndone(why)), isKept: false, ended() {} };
  }
}

const notUndone = (why: string): string => `no undo of this: ${why}`;

const mostNamed = 5;

function noteOf(left: readonly string[]): string {
  const names = left.slice(0, mostNamed).map((name) => JSON.stringify(name));
  return `undo would not bring back ${left.length} too large or not readable: ${names.join(', ')}`;
}

/** Waits so long for a task; a late one goes on by itself. */
function inTime<T>(task: Promise<T>, ms: number): Promise<T | 'late'> {
  // It may fail by itself as well.
  task.catch(() => {});
  return Promise.race([task, sleep(ms, 'late' as const, { ref: false })]);
}
