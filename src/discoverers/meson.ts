import * as z from 'zod';
import { choice, on, operand, option, required } from '../core/parameter.ts';
import { list, name, path } from '../core/params.ts';
import { action, program } from '../core/program.ts';
import { together, compiled, said } from './reports/diagnostics.ts';
import { diagnostics, entries, tasks, tests } from './reports/kinds.ts';
import { json } from './reports/readers.ts';
import { junit } from './reports/xml.ts';

const folder = path('Build folder', 'folder', { written: true }).default('build');
const build = required('-C', folder);
const options = option(
  '-D',
  list(z.string().regex(/^[\w.:-]+=[^\0]*$/, 'expected name=value'), 'name=value'),
);
const kind = choice({ debug: '--buildtype=debug', release: '--buildtype=release' }, 'How it is compiled');
const target = z.object({ name: z.string(), type: z.string(), defined_in: z.string() });
const setting = z.object({ name: z.string(), value: z.unknown(), description: z.string() });

export default program('meson', {
  title: 'Meson',
  category: 'build',
  site: 'https://mesonbuild.com/Commands.html',
  get: { apt: 'meson', brew: 'meson', winget: 'mesonbuild.meson', pip: 'meson' },
  project: ['meson.build'],
  environment: ['CC', 'CXX', 'PKG_CONFIG_PATH'],
  settings: { LC_ALL: 'C.UTF-8' },
  hints: [{ says: /not a meson build|No such build data|build directory/i, wayOut: 'meson_setup makes it.' }],
  actions: {
    setup: action('Set up a Meson build', 'Makes a build folder, or changes it.', ['execute', 'network'], {
      run: ['setup'],
      params: {
        again: on('--reconfigure', 'Of a folder that is there'),
        kind,
        options,
        build: operand(folder),
      },
      given: { kind: 'release', options: ['b_lto=true'] },
    }),
    build: action('Build with Meson', 'Compiles; errors with their places.', ['execute'], {
      role: 'build',
      run: ['compile'],
      params: {
        build,
        clean: on('--clean', 'Only delete what was built'),
        targets: operand(list(name('Target'), 'Targets')),
      },
      given: { targets: ['app'] },
      ok: [0, 1],
      out: diagnostics(
        together(
          compiled,
          said(/^(?:\S+\/)?(?<file>meson\.build):(?<line>\d+):(?<column>\d+): ERROR: (?<message>.+)/),
        ),
      ),
    }),
    test: action('Run Meson tests', 'Builds and runs tests; failures with what they printed.', ['execute'], {
      role: 'test',
      run: ['test'],
      params: {
        build,
        suite: option('--suite', list(name('Suite'), 'Only these suites')),
        only: operand(list(name('Test'), 'Only these')),
      },
      given: { only: ['parser'] },
      // As many as failed.
      ok: Array.from({ length: 125 }, (_, code) => code),
      collects: ['**/meson-logs/testlog.junit.xml'],
      out: tests(junit(({ name: one }) => one.split(' / ').at(-1) ?? one)),
    }),
    targets: action('List Meson targets', 'Programs and libraries of a build folder.', ['execute'], {
      // It asks compilers, which the project can name.
      role: 'tasks',
      run: ['introspect', '--targets'],
      params: { build: operand(folder) },
      out: tasks(
        json(z.array(target), (all) => all.map(({ name: one, type }) => ({ name: one, says: type }))),
      ),
    }),
    options: action('List Meson options', 'Options of a build folder with their values.', ['execute'], {
      run: ['introspect', '--buildoptions'],
      params: { build: operand(folder) },
      out: entries('option')(
        json(z.array(setting), (all) =>
          all.map(({ name: one, value, description }) => ({
            name: one,
            says: `= ${JSON.stringify(value)} ${description}`,
          })),
        ),
      ),
    }),
    install: action('Install with Meson', 'Copies what was built to where it is used.', ['execute'], {
      run: ['install'],
      params: {
        build,
        destination: option('--destdir', path('A folder instead of /', 'folder', { written: true })),
      },
      given: { destination: 'out' },
    }),
  },
});
