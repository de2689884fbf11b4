import type { Program } from '../core/program.ts';

type File = () => Promise<{ default: Program | readonly Program[] }>;

/** Every file of programs, loaded when one of its actions is called. Written by the build from the folder. */
export const discoverers = {
  databases: () => import('./databases/databases.ts'),
} satisfies Record<string, File>;
