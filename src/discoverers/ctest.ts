import * as z from 'zod';
import { action, fresh, list, name, on, option, path, program, required, text } from '../core/grammar.ts';
import { tests } from './reports/kinds.ts';
import { junit } from './reports/xml.ts';
import { runs } from './shared/programs.ts';

const escaped = (word: string) => word.replaceAll(/[.*+?^$()|[\]\\]/g, '\\$&');
const params = {
  build: required('--test-dir', path('Build folder', 'folder').default('build')),
  config: option('--build-config', name('Configuration, for generators with several: Debug, Release')),
  only: option(
    '--tests-regex',
    list(text('Test'), 'Only these, by name'),
    (names) => `^(${names.map(escaped).join('|')})$`,
  ),
  matching: option('--tests-regex', text('Regular expression: only tests whose name matches')),
  label: option('--label-regex', text('Regular expression: only those with such a label')),
};

export default program('ctest', {
  title: 'CTest',
  category: 'build',
  // --build-and-test runs a command.
  everyday: /^(?!.*--build)/,
  site: 'https://cmake.org/cmake/help/latest/manual/ctest.1.html',
  get: { apt: 'cmake', brew: 'cmake', winget: 'Kitware.CMake' },
  called: ['ctest', 'ctest3'],
  project: ['CTestTestfile.cmake', { file: 'CMakeLists.txt', has: /enable_testing|include\(CTest\)/i }],
  elsewhere: {
    darwin: ['/Applications/CMake.app/Contents/bin/ctest'],
    win32: ['%ProgramFiles%/CMake/bin/ctest.exe'],
  },
  hints: [{ says: /Failed to change working directory/, wayOut: 'cmake_configure makes the build folder.' }],
  actions: {
    list: action('List CMake tests', 'Tests of a build folder.', runs, { run: ['--show-only'], params }),
    test: action('Run CMake tests', 'Runs tests of C and C++; failures with their output.', runs, {
      role: 'test',
      run: ['--output-on-failure', '--no-tests=error', '--output-junit', fresh('report.xml')],
      params: {
        ...params,
        jobs: option('--parallel', z.int().min(1).max(64).describe('Tests at once')),
        again: on('--rerun-failed', 'Only those that failed last time'),
      },
      given: { only: ['parser'], jobs: 4 },
      ok: [0, 8],
      // Those that could not be started count as left out there.
      out: tests(
        junit(
          ({ name: one }) => one,
          ({ message }) => !/^(?:SKIP_|Disabled)/.test(String(message)),
        ),
      ),
    }),
  },
});
