import * as z from 'zod';
import { fresh } from '../core/command-line.ts';
import { on, option, required } from '../core/parameter.ts';
import { list, name, path, text } from '../core/params.ts';
import { action, program } from '../core/program.ts';
import { entries, tests } from './reports/kinds.ts';
import { json } from './reports/readers.ts';
import { junit } from './reports/xml.ts';

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
  except: option('--exclude-regex', text('Regular expression: not these')),
  label: option('--label-regex', text('Regular expression: only those with such a label')),
};

const property = z.object({ name: z.string(), value: z.unknown() });
const listing = z.object({
  kind: z.literal('ctestInfo'),
  tests: z.array(
    z.object({
      name: z.string(),
      command: z.array(z.string()).default([]),
      properties: z.array(property).default([]),
    }),
  ),
});

export default program('ctest', {
  title: 'CTest',
  category: 'build',
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
    list: action('List CMake tests', 'Tests of a build folder, with labels.', ['execute'], {
      run: ['--show-only=json-v1'],
      params,
      out: entries('test')(
        json(listing, ({ tests: all }) =>
          all.map(({ name: one, command, properties }) => {
            const value = (key: string) => properties.find((each) => each.name === key)?.value;
            const labels = [value('LABELS') ?? []].flat().map((label) => `[${String(label)}]`);
            // A test whose program is not built has no command.
            const state =
              value('DISABLED') === true ? ['disabled'] : command.length === 0 ? ['not built'] : [];
            return { name: one, says: [...labels, ...state].join(' ') };
          }),
        ),
      ),
    }),
    test: action(
      'Run CMake tests',
      'Runs tests of C and C++; failures with what they printed.',
      ['execute'],
      {
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
      },
    ),
  },
});
