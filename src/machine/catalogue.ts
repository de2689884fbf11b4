import type { ToolDefinition } from '../core/tool-definition.ts';
import type { KnownNames } from './config/check-config.ts';
import type { ProgramFacts } from './programs/installation.ts';

/** All programs and tools that there could be on a machine. */
export interface Catalogue {
  /** `file`: where the code of a program is found. */
  readonly programs: readonly (ProgramFacts & { readonly file: string })[];
  readonly tools: readonly ToolDefinition[];
}

/** The names of tools and toolsets that settings may use. */
export const namesIn = ({ tools, programs }: Catalogue): KnownNames => ({
  tools: tools.map(({ name }) => name),
  toolsets: ['files', 'toolcrib', ...programs.map(({ id }) => id)],
});
