import type { Workspace } from '../../core/tool.ts';
import type { DatabaseServices } from '../databases/target.ts';
import type { Installation } from '../programs/installation.ts';
import type { Run } from '../processes/process.ts';

/** Keeps states of work trees. */
export interface Checkpoint {
  /** Keeps the state before a program starts, and says so or why not; undefined in no work tree. Never rejects. */
  take(
    folder: string,
    before: string,
    workspace: Workspace,
    signal: AbortSignal,
  ): Promise<{ readonly note?: string; readonly isComplete: boolean } | undefined>;
  /** Whether the first state is complete, and the next would bring back each of these absolute paths. */
  isReady(folder: string, paths: readonly string[], workspace: Workspace): Promise<boolean>;
}

/** What running actions needs of this machine. */
export interface ActionServices {
  readonly run: Run;
  /** Undefined for what takes no program. */
  readonly installation: Installation | undefined;
  readonly databases: DatabaseServices;
  /** The whole environment of a child that may inherit `names` and is given `settings`. */
  childEnvironment(
    names: readonly string[],
    settings: Readonly<Record<string, string>>,
  ): Record<string, string>;
  /** Left out where no states are kept. */
  readonly checkpoint?: Checkpoint;
}
