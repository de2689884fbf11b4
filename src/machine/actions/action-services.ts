import type { DatabaseServices } from '../databases/target.ts';
import type { Checkpoints } from '../history/checkpoints.ts';
import type { Installation } from '../programs/installation.ts';
import type { Run } from '../processes/process.ts';

/** Keeps states of work trees. */
export type Checkpoint = Pick<Checkpoints, 'take' | 'isReady'>;

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
