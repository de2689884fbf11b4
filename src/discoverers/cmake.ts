import * as z from 'zod';
import { on, option, required } from '../core/parameter.ts';
import { list, name, path } from '../core/params.ts';
import { action, program } from '../core/program.ts';
import { compiled } from './reports/diagnostics.ts';
import { diagnostics, entries, tasks } from './reports/kinds.ts';
import { json, lines } from './reports/readers.ts';

const build = (place: string) =>
  required(place, path('Build folder', 'folder', { written: true }).default('build'));
const config = option('--config', name('Configuration, for generators with several: Debug, Release'));
const targets = option('--target', list(name('Target'), 'Default: everything'));
const jobs = option('--parallel', z.int().min(1).max(64).describe('Jobs at once'));
const define = z
  .string()
  .regex(/^[A-Za-z_][\w.-]*(?::[A-Z]+)?=[^\0\r\n]*$/, 'expected NAME=value or NAME:TYPE=value');
const defines = option('-D', list(define, 'NAME=value'));
const preset = required('--preset=', name('Name of a preset; cmake_presets lists them'));
const built = { role: 'build', ok: [0, 1, 2], out: diagnostics(compiled) } as const;

const preset_ = z.object({
  name: z.string(),
  hidden: z.boolean().optional(),
  displayName: z.string().optional(),
});
const all = z.array(preset_).optional();
const presets = z.object({
  include: z.array(z.string()).optional(),
  configurePresets: all,
  buildPresets: all,
  testPresets: all,
  workflowPresets: all,
});

export default program('cmake', {
  title: 'CMake',
  category: 'build',
  site: 'https://cmake.org/cmake/help/latest/manual/cmake.1.html',
  get: { apt: 'cmake', brew: 'cmake', winget: 'Kitware.CMake' },
  called: ['cmake', 'cmake3'],
  project: ['CMakeLists.txt', 'CMakePresets.json'],
  elsewhere: {
    darwin: ['/Applications/CMake.app/Contents/bin/cmake'],
    win32: ['%ProgramFiles%/CMake/bin/cmake.exe'],
  },
  environment: [
    'CC',
    'CXX',
    'CMAKE_PREFIX_PATH',
    'CMAKE_GENERATOR',
    'VCPKG_ROOT',
    'SDKROOT',
    'MACOSX_DEPLOYMENT_TARGET',
  ],
  settings: { LC_ALL: 'C.UTF-8' },
  hints: [
    {
      says: /is not a directory|CMakeCache\.txt|could not load cache/,
      wayOut: 'cmake_configure makes the build folder.',
    },
  ],
  actions: {
    presets: action('List CMake presets', 'Presets of CMakePresets.json; runs nothing.', ['read'], {
      reads: ['CMakePresets.json'],
      out: entries('preset')(
        json(presets, ({ include = [], ...kinds }) => ({
          items: Object.entries(kinds).flatMap(([key, some = []]) =>
            some.flatMap(({ name: one, hidden }) =>
              hidden ? [] : [{ name: one, says: key.replace('Presets', '') }],
            ),
          ),
          ...(include.length > 0 && { more: `not read: ${include.join(', ')}` }),
        })),
      ),
    }),
    configure: action('Configure with CMake', 'Makes a build folder.', ['execute'], {
      run: [],
      params: {
        fresh: on('--fresh', 'Forget the cache of the build folder (CMake 3.24)'),
        source: required('-S', path('Folder of the top CMakeLists.txt', 'folder').default('.')),
        build: build('-B'),
        generator: option(
          '-G',
          z
            .string()
            .regex(/^[A-Z][\w ]+$/, 'expected a generator')
            .describe('Ninja, Unix Makefiles …'),
        ),
        build_type: option('-DCMAKE_BUILD_TYPE=', name('Debug, Release, RelWithDebInfo, MinSizeRel')),
        defines,
      },
      given: { generator: 'Ninja', build_type: 'Debug', defines: ['BUILD_TESTING=ON'] },
    }),
    configure_preset: action('Configure with a CMake preset', 'Runs its scripts by a preset.', ['execute'], {
      run: [],
      params: { preset, defines },
      given: { preset: 'dev' },
    }),
    build: action('Build with CMake', 'Builds targets; errors with their places.', ['execute'], {
      ...built,
      run: [],
      params: {
        build: build('--build'),
        targets,
        config,
        jobs,
        clean_first: on('--clean-first', 'Build target clean first'),
        verbose: on('--verbose', 'Show command lines'),
      },
      given: { targets: ['app'], jobs: 4 },
    }),
    build_preset: action(
      'Build with a CMake preset',
      'Builds by a preset; errors with places.',
      ['execute'],
      {
        ...built,
        run: ['--build'],
        params: { preset, targets, jobs },
        given: { preset: 'dev' },
      },
    ),
    install: action('Install with CMake', 'Copies what was built to where it is used.', ['execute'], {
      run: [],
      params: {
        build: build('--install'),
        prefix: option(
          '--prefix',
          path('Where to; else where the project says', 'folder', { written: true }),
        ),
        component: option('--component', name('Only this component')),
        config,
        strip: on('--strip', 'Without symbols'),
      },
      given: { prefix: 'out' },
    }),
    targets: action('List CMake targets', 'Targets of a configured build folder.', ['execute'], {
      role: 'tasks',
      run: ({ build: folder }) => [folder, '--target', 'help'],
      params: { build: build('--build') },
      out: tasks(
        lines(
          /^(?:\.\.\. )?(?<name>[\w./+-]+)(?:: (?!phony)(?<says>\w+)| \((?<note>.+)\)|: phony)?$/,
          ({ name: one = '', note }) => ({
            name: one,
            ...(note && { says: note }),
          }),
        ),
      ),
    }),
    variables: action('List CMake variables', 'What is in the cache of a build folder.', ['read'], {
      run: ['-N', '-LA'],
      params: { build: build('-B') },
      out: entries('variable')(
        lines(/^(?<name>[\w.-]+):[A-Z]+=(?<says>.*)$/, ({ name: one = '', says }) => ({ name: one, says })),
      ),
    }),
  },
});
