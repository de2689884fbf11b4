import type { Program } from '../core/program.ts';

type File = () => Promise<{ default: Program | readonly Program[] }>;

/** Every file of programs, loaded when one of its actions is called. Written from the folder by `npm run build`. */
export const discoverers = {
  ansible: () => import('./ansible.ts'),
  bazel: () => import('./bazel.ts'),
  binaries: () => import('./binaries.ts'),
  'clang-tools': () => import('./clang-tools.ts'),
  cmake: () => import('./cmake.ts'),
  compilers: () => import('./compilers.ts'),
  compose: () => import('./compose.ts'),
  'conan-vcpkg': () => import('./conan-vcpkg.ts'),
  containers: () => import('./containers/containers.ts'),
  ctest: () => import('./ctest.ts'),
  'database-files': () => import('./database-files/database-files.ts'),
  databases: () => import('./databases/databases.ts'),
  debuggers: () => import('./debuggers.ts'),
  git: () => import('./git/git.ts'),
  helm: () => import('./helm.ts'),
  just: () => import('./just.ts'),
  kubectl: () => import('./kubectl.ts'),
  'local-clusters': () => import('./local-clusters.ts'),
  make: () => import('./make.ts'),
  meson: () => import('./meson.ts'),
  ninja: () => import('./ninja.ts'),
  node: () => import('./node.ts'),
  'node-packages': () => import('./node-packages/node-packages.ts'),
  packer: () => import('./packer.ts'),
  python: () => import('./python.ts'),
  'python-packages': () => import('./python-packages/python-packages.ts'),
  terraform: () => import('./terraform.ts'),
  trivy: () => import('./trivy.ts'),
  vagrant: () => import('./vagrant.ts'),
  'visual-studio': () => import('./visual-studio.ts'),
} satisfies Record<string, File>;
