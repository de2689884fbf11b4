import type { Run } from '../machine/process.ts';

/** What the file tools need of this machine beside the workspace. */
export interface Services {
  run: Run;
  /** Absolute path of ripgrep. Throws PROGRAM_NOT_FOUND. */
  ripgrep(): Promise<string>;
  /** The whole environment of a program that is started. */
  env(): Record<string, string>;
}
