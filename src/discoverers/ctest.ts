import * as z from 'zod';
import { defineDiscoverer } from '../core/discoverer.ts';
import { flag, path, text } from '../core/params.ts';

const params = {
  build: path('Build folder', 'folder', { written: true }).default('build'),
  only: text('Regular expression: only tests whose name matches').optional(),
  config: z
    .string()
    .regex(/^\w{1,100}$/, 'expected a name')
    .optional()
    .describe('Configuration, for generators with several: Debug, Release'),
};

export const ctest = defineDiscoverer({
  id: 'ctest',
  title: 'CTest',
  category: 'build',
  homepage: 'https://cmake.org/cmake/help/latest/manual/ctest.1.html',
  programs: ['ctest', 'ctest3'],
  version: { args: ['--version'], pattern: /^ctest3? version (\S+)/ },
  elsewhere: {
    darwin: ['/Applications/CMake.app/Contents/bin/ctest'],
    win32: ['%ProgramFiles%/CMake/bin/ctest.exe'],
  },
  install: {
    linux: 'It comes with CMake: sudo apt install cmake',
    darwin: 'It comes with CMake: brew install cmake',
    win32: 'It comes with CMake: winget install Kitware.CMake',
  },
  signals: { files: ['CMakeLists.txt', 'CTestTestfile.cmake'] },

  actions: {
    list: {
      title: 'List CMake tests',
      description: 'Tests of a configured build folder; runs the scripts that define them, not the tests.',
      effects: ['execute'],
      params,
      argv: [
        { option: '--test-dir', param: 'build' },
        { option: '--build-config', param: 'config' },
        { option: '--tests-regex', param: 'only' },
        '--show-only=json-v1',
      ],
      example: { runs: 'ctest --test-dir build --show-only=json-v1' },
      result: z.object({
        tests: z.array(
          z.object({
            name: z.string(),
            command: z.array(z.string()),
            labels: z.array(z.string()),
            disabled: z.boolean(),
          }),
        ),
      }),
      parse: readTests,
    },
    run: {
      title: 'Run CMake tests',
      description: 'Runs the tests of a built project; shows what failing ones printed.',
      effects: ['execute'],
      params: {
        ...params,
        except: text('Regular expression: not these tests').optional(),
        jobs: z.int().min(1).max(64).optional().describe('Tests at once'),
        rerun_failed: flag('Only those that failed last time'),
      },
      argv: [
        { option: '--test-dir', param: 'build' },
        '--output-on-failure',
        '--no-tests=error',
        { option: '--build-config', param: 'config' },
        { option: '--tests-regex', param: 'only' },
        { option: '--exclude-regex', param: 'except' },
        { option: '--parallel', param: 'jobs' },
        { flag: '--rerun-failed', param: 'rerun_failed' },
      ],
      example: {
        given: { only: '^parser', jobs: 4 },
        runs: 'ctest --test-dir build --output-on-failure --no-tests=error --tests-regex ^parser --parallel 4',
      },
    },
  },
});

interface Listing {
  kind?: unknown;
  tests?: { name: string; command?: string[]; properties?: { name: string; value: unknown }[] }[];
}

function readTests(stdout: string) {
  const listing = JSON.parse(stdout) as Listing;
  if (listing?.kind !== 'ctestInfo' || !Array.isArray(listing.tests))
    throw new Error('expected kind ctestInfo');
  return {
    tests: listing.tests.map(({ name, command = [], properties = [] }) => {
      const property = (wanted: string) => properties.find((each) => each.name === wanted)?.value;
      const labels = property('LABELS');
      return {
        name,
        // A test whose program is not built yet has no command.
        command,
        labels: Array.isArray(labels) ? labels.map(String) : [],
        disabled: property('DISABLED') === true,
      };
    }),
  };
}
