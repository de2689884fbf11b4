import type { Program } from '../core/program.ts';

type File = () => Promise<{ default: Program | readonly Program[] }>;

/** Every file of programs, loaded when one of its actions is called. Written from the folder by `npm run build`. */
export const discoverers = {
  databases: () => import('./databases/databases.ts'),
  git: () => import('./git/git.ts'),
  just: () => import('./just.ts'),
  python: () => import('./python.ts'),
  'python-packages': () => import('./python-packages/python-packages.ts'),
} satisfies Record<string, File>;
