import * as z from 'zod';
import {
  action,
  list,
  matching,
  name,
  on,
  operand,
  option,
  path,
  program,
  required,
} from '../core/grammar.ts';
import { compiled } from './reports/diagnostics.ts';
import { diagnostics, entries, tasks } from './reports/kinds.ts';
import { json, lines } from './reports/readers.ts';
import { reads, runs } from './shared/programs.ts';
import { ofTargets } from './shared/tasks.ts';

const build = (place: string) =>
  required(place, path('Build folder', 'folder', { written: true }).default('build'));
const config = option('--config', name('Configuration, for generators with several: Debug, Release'));
const targets = option('--target', list(name('Target'), 'Default: everything'));
const jobs = option('--parallel', z.int().min(1).max(64).describe('Jobs at once'));
const define = matching(/^[A-Za-z_][\w.-]*(?::[A-Z]+)?=[^\0\r\n]*$/, 'NAME=value or NAME:TYPE=value', 'One');
const defines = option('-D', list(define, 'NAME=value'));
const preset = required('--preset=', name('Name of a preset; cmake_presets lists them'));
const built = { ok: [0, 1, 2], out: diagnostics(compiled) } as const;

const named = z.array(z.object({ name: z.string(), hidden: z.boolean().optional() })).optional();
const kinds = z.object({ configurePresets: named, buildPresets: named, testPresets: named });
const presets = kinds.extend({ include: z.array(z.string()).default([]) });

export default program('cmake', {
  title: 'CMake',
  category: 'build',
  site: 'https://cmake.org/cmake/help/latest/manual/cmake.1.html',
  get: { apt: 'cmake', brew: 'cmake', winget: 'Kitware.CMake' },
  called: ['cmake', 'cmake3'],
  // With -E it runs, copies and removes what it is given; the build program behind -- has code in options.
  everyday: /^(?!-E|.* -- (?!-j))/,
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
  // make goes on with other files after one that fails, so that all errors are said at once.
  settings: { LC_ALL: 'C.UTF-8', MAKEFLAGS: 'k' },
  hints: [
    {
      says: /is not a directory|CMakeCache\.txt|could not load cache/,
      wayOut: 'cmake_configure makes the build folder.',
    },
  ],
  actions: {
    presets: action('List CMake presets', 'Presets of CMakePresets.json; runs nothing.', reads, {
      run: { reads: ['CMakePresets.json'] },
      out: entries('preset')(
        json(presets, ({ include, ...all }) => ({
          items: Object.entries(all).flatMap(([key, some = []]) =>
            some.flatMap(({ name: one, hidden }) =>
              hidden ? [] : [{ name: one, says: key.replace('Presets', '') }],
            ),
          ),
          more: include.length > 0 ? `not read: ${include.join(', ')}` : undefined,
        })),
      ),
    }),
    configure: action('Configure with CMake', 'Makes a build folder.', runs, {
      run: [],
      params: {
        fresh: on('--fresh', 'Forget the cache of the build folder (CMake 3.24)'),
        source: required('-S', path('Folder of the top CMakeLists.txt', 'folder').default('.')),
        build: build('-B'),
        generator: option('-G', matching(/^[A-Z][\w ]+$/, 'a generator', 'Ninja, Unix Makefiles …')),
        build_type: option('-DCMAKE_BUILD_TYPE=', name('Debug, Release, RelWithDebInfo, MinSizeRel')),
        defines,
      },
      given: { generator: 'Ninja', build_type: 'Debug', defines: ['BUILD_TESTING=ON'] },
    }),
    configure_preset: action('Configure with a CMake preset', 'Runs its scripts by a preset.', runs, {
      run: [],
      params: { preset, defines },
      given: { preset: 'dev' },
    }),
    build: action('Build with CMake', 'Builds targets; errors with their places.', runs, {
      ...built,
      role: 'build',
      run: ({ build: folder, targets: some, config: one, jobs: many }) => [
        '--build',
        folder,
        some,
        one,
        many,
      ],
      // Makes the build folder; where it is there, what it was made with stays.
      steps: { before: ({ build: folder }) => ['-S', '.', '-B', folder] },
      dashes: false,
      params: {
        build: operand(path('Build folder', 'folder', { written: true }).default('build')),
        targets,
        config,
        jobs,
      },
      moreEffects: ({ targets: all }) => ofTargets(all),
      given: { targets: ['app'], jobs: 4 },
    }),
    build_preset: action('Build with a CMake preset', 'Builds by a preset.', runs, {
      ...built,
      run: ['--build'],
      params: { preset, targets, jobs },
      moreEffects: ({ targets: all }) => ofTargets(all),
      given: { preset: 'dev' },
    }),
    install: action('Install with CMake', 'Copies what was built to where it is used.', runs, {
      run: [],
      params: {
        build: build('--install'),
        prefix: option('--prefix', path('Where to', 'folder', { written: true })),
        config,
      },
      // Without one it goes where the build was configured for: mostly into the system.
      moreEffects: ({ prefix }) => (prefix === undefined ? ['destroy'] : []),
      given: { prefix: 'out' },
    }),
    targets: action('List CMake targets', 'Targets of a configured build folder.', runs, {
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
  },
});
