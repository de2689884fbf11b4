import { randomBytes } from 'node:crypto';
import type { CarryOver } from './extended-attributes.ts';
import type { FileLocks } from './file-lock.ts';
import type { Journal } from './journal.ts';
import type { Limits } from './journal-pruning.ts';
import type { SpareBuffer } from './spare-buffer.ts';
import type { WrittenFiles } from './written-files.ts';

/** What every kind of change is made with. */
export interface ChangeKit {
  readonly journal: Journal;
  readonly locks: FileLocks;
  readonly carryOver: CarryOver;
  readonly written: WrittenFiles;
  readonly spare: SpareBuffer;
  /** A single file that is replaced has at most so many bytes: all of it has to be in memory. */
  readonly mostBytes: number;
  readonly limits: Limits;
  temporaryName(): string;
}

/** Hidden from listings, recognised by people, and met by nobody by chance. */
export const temporaryName = (): string => `.toolcrib-${randomBytes(8).toString('hex')}.tmp`;
