import type { Checkpoints } from '../machine/checkpoints/checkpoints.ts';
import type { SpareBuffer } from '../machine/changes/spare-buffer.ts';
import type { Versions } from '../machine/changes/content-version.ts';
import type { FileChanges } from '../machine/changes/file-changes.ts';
import type { Run } from '../machine/processes/process.ts';
import type { KnownFiles } from './known-files.ts';
import type { KeptLists } from './listing/kept-lists.ts';
import type { LineIndexes } from './reading/line-index.ts';

/** What the file tools need of this machine beside the workspace. */
export interface Services {
  run: Run;
  /** Absolute path of ripgrep. Throws PROGRAM_NOT_FOUND. */
  ripgrep(): Promise<string>;
  /** The whole environment of a program that is started. */
  env(): Record<string, string>;
  /** What was read and written so far; lives as long as the server. */
  known: KnownFiles;
  /** Lists of files, for their next pages; live as long as the server. */
  lists: KeptLists;
  /** Where the lines of large files are; lives as long as the server. */
  lines: LineIndexes;
  /** Everything that changes files, with the journal of it. */
  changes(): Promise<FileChanges>;
  versions: Versions;
  /** Memory for the new content of a file that is edited. */
  spare: SpareBuffer;
  /** States of work trees, kept before actions that can do anything to them. */
  checkpoints(): Promise<Checkpoints>;
}
