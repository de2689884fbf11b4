import type { AnyDiscoverer } from '../core/discoverer.ts';

/** Every program toolcrib knows, one line each. Loaded only when one of its actions is called. */
export const discoverers = {
  cmake: () => import('./cmake.ts').then((m) => m.cmake),
  compose: () => import('./compose.ts').then((m) => m.compose),
  ctest: () => import('./ctest.ts').then((m) => m.ctest),
  docker: () => import('./docker.ts').then((m) => m.docker),
  git: () => import('./git/git.ts').then((m) => m.git),
  make: () => import('./make.ts').then((m) => m.make),
  mysql: () => import('./mysql.ts').then((m) => m.mysql),
  node: () => import('./node.ts').then((m) => m.node),
  npm: () => import('./npm.ts').then((m) => m.npm),
  pip: () => import('./pip.ts').then((m) => m.pip),
  psql: () => import('./psql.ts').then((m) => m.psql),
  python: () => import('./python.ts').then((m) => m.python),
  sqlite3: () => import('./sqlite3.ts').then((m) => m.sqlite3),
} satisfies Record<string, () => Promise<AnyDiscoverer>>;
