import type { Settings } from '../core/settings.ts';
import type { RootedWorkspace } from '../machine/paths/workspace.ts';
import type { Ask } from './ask.ts';

/** Who calls, from where, and how they are reached. */
export interface Caller {
  readonly workspace: RootedWorkspace;
  /** What holds in these roots. */
  readonly settings: Settings;
  readonly signal: AbortSignal;
  progress(message: string): void;
  /** Whose call it is; the same for all calls of one connection. */
  readonly client: string;
  /** How that client calls itself. */
  readonly clientInfo?: { readonly name: string; readonly version: string } | undefined;
  readonly ask: Ask;
}
