import type { ToolDefinition, ToolRegistry } from '../core/tool-definition.ts';
import type { Settings } from '../core/settings.ts';
import type { Tool, Workspace } from '../core/tool.ts';
import type { RecordCall } from './audit/audit.ts';
import type { Environment } from './environment.ts';
import type { WorkTreeStates } from './history/checkpoints.ts';
import type { History } from './history/history.ts';
import type { Jobs } from './jobs/jobs.ts';
import type { KnownFiles, Listing } from './known-files.ts';
import type { Admit } from './limited.ts';
import type { OutputStore } from './output-store/output-store.ts';
import type { Mask } from './secrets/mask.ts';
import type { Trust } from './trust/trust.ts';

/**
 * The state that the calls of one client share, over one Environment. Each part does nothing before its first
 * use.
 */
export interface Session {
  readonly environment: Environment;
  readonly settings: Settings;
  /** True where the client runs on this machine, and may ask which servers listen on it alone. */
  readonly isLocal: boolean;
  readonly tools: ToolRegistry;
  readonly jobs: Jobs;
  readonly outputs: OutputStore;
  /** The files that calls have read and written so far. */
  readonly knownFiles: KnownFiles;
  /** Listings of folders, for their next pages. */
  readonly listings: Map<string, Listing>;
  /** The problems that checks found, by check, program and folder. */
  readonly problems: Map<string, readonly Problem[]>;
  /** Saves checkpoints of work trees; undefined where none are kept. */
  readonly checkpoints: Pick<WorkTreeStates, 'take' | 'isReady'> | undefined;
  /** The history through which files are changed and restored. */
  history(): Promise<History>;
  trust(): Promise<Trust>;
  /** The absolute path of ripgrep. Throws PROGRAM_NOT_FOUND. */
  ripgrep(): Promise<string>;
  /** Loads the code of a tool, at its first call. Throws PROGRAM_NOT_FOUND. */
  load(tool: ToolDefinition): Promise<Tool>;
  /** Limits how many calls run at a time; see createLimit(). */
  readonly admit: Admit;
  /** Masks secrets in what leaves the server, and nowhere else. */
  readonly mask: Mask;
  readonly recordCall: RecordCall;
  /** The calls that are running. */
  readonly pending: Set<Promise<unknown>>;
  /**
   * The running calls that only write files. Later calls wait for them, because a model expects to find what
   * it wrote.
   */
  readonly writing: Set<Promise<unknown>>;
  /** Begins the first checkpoint of a trusted folder, which takes longest, when a call needs the folder. */
  needsTrusted(folder: string, workspace: Workspace): void;
  /** Ends all jobs and discards all output. */
  end(): Promise<void>;
}

/** A test that failed, or a diagnostic. */
export interface Problem {
  /** An id that stays the same when the problem moves within the file. */
  readonly id: string;
  readonly level: 'error' | 'warning' | 'info';
  readonly file?: string;
  readonly line?: number;
  readonly name?: string;
  readonly message: string;
  /** True where the previous check did not find it. */
  readonly isNew?: boolean;
}
