import type { DatabaseEngine } from './discoverer.ts';
import type { Role } from './program.ts';
import type { Annotations, ToolFacts } from './tool.ts';

/**
 * A tool as clients see it, and what has to be known to decide whether they do. Data: its code is elsewhere.
 */
export interface ToolDefinition extends Omit<ToolFacts, 'params'> {
  /** Left out for built-in tools. */
  readonly action?: string;
  /** Its place among the actions of its program: the first are used most. */
  readonly rank?: number;
  /** Its purpose, whatever its program. */
  readonly role?: Role;
  /** The first word it gives its program: `test`. */
  readonly begins?: string;
  /** Set for an action that reads a file in the place of its program, which need not be there. */
  readonly reads?: true;
  /** The database it asks itself, so that the program need not be there. */
  readonly engine?: DatabaseEngine;
  /** Arguments of an example call of an action. */
  readonly example?: object;
  readonly inputSchema: JsonSchema;
  readonly annotations: Annotations;
}

export type JsonSchema = { type: 'object'; [key: string]: unknown };

/** One program in the list of tools. */
export interface ProgramListing {
  /** The number of its actions that are listed. */
  readonly listed: number;
  /** The project shows evidence of it. */
  readonly isUsed: boolean;
  /** The reason, as the rest of a sentence. */
  readonly why: string;
}

/** The tools that a host is shown, of all that can be called. */
export interface ListedTools {
  readonly listed: readonly ToolDefinition[];
  /** Listings by the id of each program that can be used. */
  readonly programs: ReadonlyMap<string, ProgramListing>;
}

/** The tools that are offered on this machine with these settings. */
export interface ToolRegistry {
  /** All that can be called now, sorted by name. */
  callable(): Promise<ToolDefinition[]>;
  /** All that could be called too if its program were here. */
  absent(): Promise<ToolDefinition[]>;
  /** The tools that a host is shown, and why. */
  listed(): Promise<ListedTools>;
  /** The tool of that name or alias, whether or not its program is installed. Throws UNKNOWN_TOOL. */
  find(name: string): ToolDefinition;
  /** True where there is a tool of that very name that the operator has not left out. */
  has(name: string): boolean;
  /** True for a tool that asks a database which the operator has named: that takes no program. */
  isReachable(tool: ToolDefinition): boolean;
}
