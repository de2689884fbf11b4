import type { Program } from '../core/program.ts';

type File = () => Promise<{ default: Program | readonly Program[] }>;

/** Every file of programs, loaded when one of its actions is called. Written from the folder by `npm run build`. */
export const discoverers = {
  cmake: () => import('./cmake.ts'),
  ctest: () => import('./ctest.ts'),
  databases: () => import('./databases/databases.ts'),
  git: () => import('./git/git.ts'),
  just: () => import('./just.ts'),
  make: () => import('./make.ts'),
} satisfies Record<string, File>;
