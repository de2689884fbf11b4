import type { Settings } from '../core/settings.ts';
import type { ToolDefinition } from '../core/tool-definition.ts';
import type { RootedWorkspace } from '../machine/paths/workspace.ts';
import type { AskPerson } from './approvals/ask.ts';

/** A call of a tool as it came in, where it may work, and how its caller is reached. */
export interface Request {
  readonly tool: ToolDefinition;
  /** The arguments as they came. */
  readonly args: unknown;
  readonly workspace: RootedWorkspace;
  /** The settings in force in these roots. */
  readonly settings: Settings;
  readonly signal: AbortSignal;
  progress(message: string): void;
  /** Whose call it is; the same for all calls of one connection. */
  readonly client: string;
  /** The name that client gives itself. */
  readonly clientInfo?: { readonly name: string; readonly version: string } | undefined;
  readonly ask: AskPerson;
}
