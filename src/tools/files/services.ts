import type { Dirent } from 'node:fs';
import type { History } from '../../machine/history/history.ts';
import type { Run } from '../../machine/processes/process.ts';
import type { KnownFiles } from '../../machine/known-files.ts';

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
  lists: Map<string, Listing>;
  /** What changes files, and brings them back. */
  history(): Promise<History>;
}

/** What was found in a folder. */
export interface Listing {
  /** Entries of the folder, or paths below it: thousands of objects would take longer than to read it. */
  readonly items: readonly (Dirent | string)[];
  readonly notes: readonly string[];
  isIgnored?(name: string, isFolder: boolean): boolean;
}
