import * as z from 'zod';
import { checkParams } from './check-params.ts';
import type { Limits } from './policy.ts';

/** What the operator decides, on the command line or in the configuration file. */
export interface Settings extends Limits {
  /** Folders a model may touch; empty: the client's, or the folder the server was started in. */
  readonly roots: readonly string[];
  /** Programs whose tools are offered, or `files` and `toolcrib` for our own; all when undefined. */
  readonly toolsets?: readonly string[] | undefined;
  /** Whether the state of a work tree is kept before actions that can do anything to it; yes when undefined. */
  readonly checkpoints?: boolean | undefined;
}

const configSchema = z.strictObject({
  roots: z.array(z.string().min(1)).optional(),
  readOnly: z.boolean().optional(),
  toolsets: z.array(z.string()).optional(),
  allow: z.array(z.enum(['destroy'])).optional(),
  checkpoints: z.boolean().optional(),
});

export type Config = z.infer<typeof configSchema>;

/** The content of a configuration file. Throws ARG_INVALID with the right name for a setting that does not exist. */
export const checkConfig = (content: unknown): Config => checkParams(configSchema, content, 'setting');

/** What the command line says, and for what it does not, what the file says. Read-only is so when either says so. */
export function mergeSettings(given: Settings, config: Config): Settings {
  return {
    roots: given.roots.length > 0 ? given.roots : (config.roots ?? []),
    readOnly: given.readOnly || (config.readOnly ?? false),
    toolsets: given.toolsets ?? config.toolsets,
    allow: given.allow.length > 0 ? given.allow : (config.allow ?? []),
    checkpoints: given.checkpoints ?? config.checkpoints,
  };
}
