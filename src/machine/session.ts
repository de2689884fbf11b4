import type { ToolDefinition, ToolRegistry } from '../core/tool-definition.ts';
import type { Settings } from '../core/settings.ts';
import type { Tool, Workspace } from '../core/tool.ts';
import type { Checkpoint } from './actions/run-action.ts';
import type { RecordCall } from './audit/audit.ts';
import type { Environment } from './environment.ts';
import type { History } from './history/history.ts';
import type { Jobs } from './jobs/jobs.ts';
import type { KnownFiles, Listing } from './known-files.ts';
import type { Admit } from './limited.ts';
import type { OutputStore } from './output-store/output-store.ts';
import type { Mask } from './secrets/mask.ts';
import type { Trust } from './trust/trust.ts';

/**
 * All that the calls of one client have in common, over one Environment. Each thing does nothing before it is
 * used.
 */
export interface Session {
  readonly environment: Environment;
  readonly settings: Settings;
  /** True where those who call sit at this machine, and may ask what listens on it alone. */
  readonly isLocal: boolean;
  readonly tools: ToolRegistry;
  readonly jobs: Jobs;
  readonly outputs: OutputStore;
  /** The files that were read and written so far. */
  readonly knownFiles: KnownFiles;
  /** Lists of files, for their next pages. */
  readonly listings: Map<string, Listing>;
  /** The problems that checks have found, by check, program and folder. */
  readonly problems: Map<string, readonly Problem[]>;
  /** Keeps states of work trees; undefined where none are kept. */
  readonly checkpoints: Checkpoint | undefined;
  /** The one that changes files, and brings them back. */
  history(): Promise<History>;
  trust(): Promise<Trust>;
  /** The absolute path of ripgrep. Throws PROGRAM_NOT_FOUND. */
  ripgrep(): Promise<string>;
  /** A tool with its code, which is loaded when it is first called. Throws PROGRAM_NOT_FOUND. */
  load(tool: ToolDefinition): Promise<Tool>;
  /** Lets a call go on; see createLimit(). */
  readonly admit: Admit;
  /** For what leaves the server, and nothing else. */
  readonly mask: Mask;
  readonly recordCall: RecordCall;
  /** The calls that are being made. */
  readonly pending: Set<Promise<unknown>>;
  /** The pending calls that only write files: a later call of the same turn waits for them. */
  readonly writing: Set<Promise<unknown>>;
  /**
   * Is told of a trusted folder when a call there needs it: its first checkpoint, which takes longest, is
   * begun.
   */
  needsTrusted(folder: string, workspace: Workspace): void;
  /** Ends all jobs and forgets all output. */
  end(): Promise<void>;
}

/** One test that failed, or one diagnostic. */
export interface Problem {
  /** An id that stays with the problem, wherever it has moved to. */
  readonly id: string;
  readonly level: 'error' | 'warning' | 'info';
  readonly file?: string;
  readonly line?: number;
  readonly name?: string;
  readonly message: string;
  /** Set for one that was not there last time. */
  readonly isNew?: boolean;
}
