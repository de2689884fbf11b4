import type { History } from '../machine/history/history.ts';
import type { Run } from '../machine/processes/process.ts';
import type { KnownFiles } from './known-files.ts';
import type { KeptLists } from './listing/kept-lists.ts';

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
  /** What changes files, and brings them back. */
  history(): Promise<History>;
}
