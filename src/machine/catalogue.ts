import type { ToolDefinition } from '../core/tool-definition.ts';
import type { KnownNames } from './config/check-config.ts';
import type { ProgramFacts } from './programs/installation.ts';

/** The programs and tools that toolcrib knows, whether or not they are installed. */
export interface Catalogue {
  /** The known programs, each with the `file` that holds its code. */
  readonly programs: readonly (ProgramFacts & { readonly file: string })[];
  readonly tools: readonly ToolDefinition[];
}

/** The names of tools and toolsets that settings may use. */
export const namesIn = ({ tools, programs }: Catalogue): KnownNames => ({
  tools: tools.map(({ name }) => name),
  toolsets: ['files', 'toolcrib', ...programs.map(({ id }) => id)],
});
