import * as z from 'zod';
import { defineDiscoverer } from '../core/discoverer.ts';
import { flag, list, path } from '../core/params.ts';

const generators = [
  'Ninja',
  'Ninja Multi-Config',
  'Unix Makefiles',
  'Xcode',
  'Visual Studio 17 2022',
  'Visual Studio 18 2026',
  'NMake Makefiles',
  'MinGW Makefiles',
  'MSYS Makefiles',
] as const;

// These name a program or script to run which the project did not choose.
const programVariables = new RegExp(
  [
    '_LAUNCHER$|_COMMAND$|_EXECUTABLE$|_CLANG_TIDY$|_CPPCHECK$|_CPPLINT$|_INCLUDE_WHAT_YOU_USE$',
    '^CMAKE_(?:MAKE_PROGRAM|MODULE_PATH|TOOLCHAIN_FILE|\\w*(?:INCLUDE|INCLUDE_BEFORE|TOP_LEVEL_INCLUDES))$',
    '^CMAKE_(?:LINKER|AR|NM|RANLIB|EMULATOR|CROSSCOMPILING_EMULATOR|\\w+_COMPILER_)',
  ].join('|'),
);
const compilerVariable = /^CMAKE_\w+_COMPILER$/;

const define = z
  .string()
  .max(4000)
  .regex(/^[A-Za-z_][\w.-]*(:[A-Z]+)?=[^\0\r\n]*$/, 'expected NAME=value or NAME:TYPE=value')
  .refine(
    (text) => !programVariables.test(variableOf(text)),
    'this variable decides what CMake runs and cannot be set',
  )
  .refine(
    (text) =>
      !compilerVariable.test(variableOf(text)) || /^[\w.+-]*$/.test(text.slice(text.indexOf('=') + 1)),
    'a compiler is given by its name only',
  );

const variableOf = (text: string): string => /^[^:=]*/.exec(text)?.[0] ?? '';

const word = (what: string) =>
  z
    .string()
    .regex(/^[A-Za-z0-9_][\w.+/:-]{0,199}$/, 'expected a name')
    .describe(what);

const buildFolder = path('Build folder', 'folder', { written: true }).default('build');
const parallel = z.int().min(1).max(64).optional().describe('Jobs at once');

export const cmake = defineDiscoverer({
  id: 'cmake',
  title: 'CMake',
  category: 'build',
  homepage: 'https://cmake.org',
  programs: ['cmake', 'cmake3'],
  version: { args: ['--version'], pattern: /^cmake3? version (\S+)/ },
  elsewhere: {
    darwin: ['/Applications/CMake.app/Contents/bin/cmake'],
    win32: ['%ProgramFiles%/CMake/bin/cmake.exe'],
  },
  install: {
    linux: 'Install the package cmake, for instance: sudo apt install cmake',
    darwin: 'brew install cmake',
    win32: 'winget install Kitware.CMake',
  },
  signals: { files: ['CMakeLists.txt', 'CMakePresets.json'] },
  environment: [
    'CC',
    'CXX',
    'CMAKE_PREFIX_PATH',
    'CMAKE_GENERATOR',
    'VCPKG_ROOT',
    'SDKROOT',
    'MACOSX_DEPLOYMENT_TARGET',
  ],

  actions: {
    presets: {
      title: 'List CMake presets',
      description: 'Presets of CMakePresets.json, read without running CMake.',
      effects: ['read'],
      params: {},
      reads: ['CMakePresets.json'],
      example: { runs: 'reads CMakePresets.json' },
      result: z.object({
        configure: z.array(z.string()),
        build: z.array(z.string()),
        test: z.array(z.string()),
        workflow: z.array(z.string()),
        includes: z.array(z.string()).describe('Not read; may define more presets'),
      }),
      parse: readPresets,
    },
    configure: {
      title: 'Configure with CMake',
      description: 'Runs the project’s CMake scripts and generates a build folder.',
      effects: ['execute'],
      params: {
        source: path('Folder of the top CMakeLists.txt', 'folder').default('.'),
        build: buildFolder,
        generator: z.enum(generators).optional().describe('Default: CMake decides'),
        build_type: z
          .enum(['Debug', 'Release', 'RelWithDebInfo', 'MinSizeRel'])
          .optional()
          .describe('CMAKE_BUILD_TYPE'),
        defines: list(define, 'NAME=value'),
        fresh: flag('Forget the cache of the build folder (CMake 3.24)'),
      },
      argv: [
        { flag: '--fresh', param: 'fresh' },
        '-S',
        { param: 'source' },
        '-B',
        { param: 'build' },
        { option: '-G', param: 'generator' },
        { option: '-DCMAKE_BUILD_TYPE=', param: 'build_type' },
        { each: 'defines', option: '-D' },
      ],
      example: {
        given: { generator: 'Ninja', build_type: 'Debug', defines: ['BUILD_TESTING=ON'] },
        runs: 'cmake -S . -B build -G Ninja -DCMAKE_BUILD_TYPE=Debug -D BUILD_TESTING=ON',
      },
    },
    configure_preset: {
      title: 'Configure with a CMake preset',
      description: 'Runs the project’s CMake scripts as a preset says.',
      effects: ['execute'],
      params: { preset: word('Name of a configure preset'), defines: list(define, 'NAME=value') },
      argv: [
        { option: '--preset=', param: 'preset' },
        { each: 'defines', option: '-D' },
      ],
      example: { given: { preset: 'dev' }, runs: 'cmake --preset=dev' },
    },
    build: {
      title: 'Build with CMake',
      description: 'Builds targets in a configured build folder.',
      effects: ['execute'],
      params: {
        build: buildFolder,
        targets: list(word('Target'), 'Default: everything'),
        config: word('Configuration, for generators with several: Debug, Release').optional(),
        jobs: parallel,
        clean_first: flag('Build target clean first'),
        verbose: flag('Show command lines'),
      },
      argv: [
        '--build',
        { param: 'build' },
        { each: 'targets', option: '--target' },
        { option: '--config', param: 'config' },
        { option: '--parallel', param: 'jobs' },
        { flag: '--clean-first', param: 'clean_first' },
        { flag: '--verbose', param: 'verbose' },
      ],
      example: {
        given: { targets: ['app'], jobs: 4 },
        runs: 'cmake --build build --target app --parallel 4',
      },
    },
    build_preset: {
      title: 'Build with a CMake preset',
      description: 'Builds as a build preset says.',
      effects: ['execute'],
      params: {
        preset: word('Name of a build preset'),
        targets: list(word('Target'), 'Default: as the preset says'),
        jobs: parallel,
      },
      argv: [
        '--build',
        { option: '--preset=', param: 'preset' },
        { each: 'targets', option: '--target' },
        { option: '--parallel', param: 'jobs' },
      ],
      example: { given: { preset: 'dev' }, runs: 'cmake --build --preset=dev' },
    },
  },
});

interface Preset {
  name: string;
  hidden?: boolean;
}

function readPresets(text: string) {
  const file = JSON.parse(text) as Record<string, unknown>;
  if (typeof file !== 'object' || file === null || !('version' in file))
    throw new Error('expected an object with a version');
  const named = (key: string) =>
    ((file[key] ?? []) as Preset[]).filter(({ hidden }) => !hidden).map(({ name }) => name);
  return {
    configure: named('configurePresets'),
    build: named('buildPresets'),
    test: named('testPresets'),
    workflow: named('workflowPresets'),
    includes: (file['include'] ?? []) as string[],
  };
}
