import type { KnownNames } from '../machine/config/check-config.ts';
import type { DatabaseEngine, Effect } from '../core/discoverer.ts';
import type { Role } from '../core/program.ts';
import type { annotationsOf } from '../core/tool.ts';
import type { ProgramFacts } from '../machine/programs/installation.ts';

/** A tool as clients see it, and what is needed to decide whether they do. */
export interface ToolDefinition {
  readonly name: string;
  readonly program: string;
  /** Left out for tools of our own. */
  readonly action?: string;
  /** Its place among the actions of its program: the first are used most. */
  readonly rank?: number;
  /** Every host is shown it, where its program is. */
  readonly listed?: true;
  /** What it is for, whatever its program. */
  readonly role?: Role;
  /** The first word it gives its program: `test`. */
  readonly begins?: string;
  /** It reads a file in the program's place, which need not be there for it. */
  readonly reads?: true;
  /** The database it asks itself, so that the program need not be there. */
  readonly engine?: DatabaseEngine;
  /** Arguments of an example call of an action. */
  readonly example?: object;
  readonly effects: readonly Effect[];
  readonly title: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
  readonly annotations: ReturnType<typeof annotationsOf>;
}

export type JsonSchema = { type: 'object'; [key: string]: unknown };

/** The names of tools and toolsets that settings may use. */
export const namesIn = ({ tools, programs }: Catalogue): KnownNames => ({
  tools: tools.map(({ name }) => name),
  toolsets: ['files', 'toolcrib', ...programs.map(({ id }) => id)],
});

export interface Catalogue {
  readonly programs: readonly (ProgramFacts & { readonly file: string })[];
  readonly tools: readonly ToolDefinition[];
}
