import type { Program } from '../core/program.ts';

type File = () => Promise<{ default: Program | readonly Program[] }>;

/** Every file of programs, loaded when one of its actions is called. Written from the folder by `npm run build`. */
export const discoverers = {
  bazel: () => import('./bazel.ts'),
  binaries: () => import('./binaries.ts'),
  'clang-tools': () => import('./clang-tools.ts'),
  cmake: () => import('./cmake.ts'),
  compilers: () => import('./compilers.ts'),
  compose: () => import('./compose.ts'),
  'conan-vcpkg': () => import('./conan-vcpkg.ts'),
  containers: () => import('./containers/containers.ts'),
  ctest: () => import('./ctest.ts'),
  dart: () => import('./dart.ts'),
  'database-files': () => import('./database-files/database-files.ts'),
  databases: () => import('./databases/databases.ts'),
  debuggers: () => import('./debuggers.ts'),
  dotnet: () => import('./dotnet.ts'),
  git: () => import('./git/git.ts'),
  go: () => import('./go.ts'),
  haskell: () => import('./haskell.ts'),
  interpreters: () => import('./interpreters.ts'),
  just: () => import('./just.ts'),
  make: () => import('./make.ts'),
  meson: () => import('./meson.ts'),
  mix: () => import('./mix.ts'),
  ninja: () => import('./ninja.ts'),
  node: () => import('./node.ts'),
  'node-packages': () => import('./node-packages/node-packages.ts'),
  python: () => import('./python.ts'),
  'python-packages': () => import('./python-packages/python-packages.ts'),
  rust: () => import('./rust.ts'),
  scripts: () => import('./scripts.ts'),
  'swift-zig': () => import('./swift-zig.ts'),
  'visual-studio': () => import('./visual-studio.ts'),
} satisfies Record<string, File>;
