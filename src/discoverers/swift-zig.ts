import * as z from 'zod';
import { fresh } from '../core/command-line.ts';
import { choice, operand, option, words } from '../core/parameter.ts';
import { list, name, path, text } from '../core/params.ts';
import { action, program } from '../core/program.ts';
import type { Reader } from '../core/report.ts';
import { compiled } from './reports/diagnostics.ts';
import { diagnostics, packages, tasks, tests, type Case } from './reports/kinds.ts';
import { json, lines } from './reports/readers.ts';
import { junit } from './reports/xml.ts';
import { packageActions } from './shared/packages.ts';

const runs = ['execute', 'network'] as const;
const checked = { ok: [0, 1, 2] as number[], out: diagnostics(compiled) } as const;

interface Dependency {
  identity: string;
  version: string;
  dependencies: Dependency[];
}
const dependency: z.ZodType<Dependency> = z.object({
  identity: z.string(),
  version: z.string(),
  dependencies: z.lazy(() => z.array(dependency)),
});
const below = ({ dependencies }: Dependency): Dependency[] =>
  dependencies.flatMap((one) => [one, ...below(one)]);
const configuration = choice({ debug: [], release: ['--configuration', 'release'] }, 'How it is compiled');
const swift = program('swift', {
  title: 'Swift',
  category: 'build',
  site: 'https://docs.swift.org/package-manager/PackageDescription',
  get: { winget: 'Swift.Toolchain', site: 'https://www.swift.org/install' },
  version: { args: ['--version'], pattern: /Swift version (\S+)/ },
  project: ['Package.swift'],
  elsewhere: {
    linux: ['~/.local/share/swiftly/bin/swift'],
    darwin: ['/Library/Developer/CommandLineTools/usr/bin/swift'],
  },
  actions: {
    build: action('Build a Swift package', 'Compiles; errors and warnings with their places.', runs, {
      ...checked,
      role: 'build',
      run: ['build'],
      params: { configuration, product: option('--product', name('Only this product')) },
      given: { configuration: 'release' },
    }),
    test: action('Run Swift tests', 'Builds and runs tests; failures with their places.', runs, {
      role: 'test',
      run: ['test', '--parallel', '--xunit-output', fresh('report.xml')],
      params: { only: option('--filter', list(text('Test: ShopTests.CartTests/testAdds'), 'Only these')) },
      given: { only: ['ShopTests.CartTests/testAdds'] },
      ok: [0, 1],
      out: tests(junit(({ of, name: test }) => `${of}/${test}`)),
    }),
    run: action('Run a Swift program', 'Builds and runs a program of the package.', runs, {
      run: ({ configuration: how, program: of, args }) => ['run', how, of, args],
      params: { configuration, program: operand(name('Program')), args: words('Its arguments') },
      given: { program: 'shop', args: ['--help'] },
    }),
    ...packageActions('Swift packages', {
      ...{ like: 'swift-argument-parser', changes: runs, looks: runs },
      install: ['package', 'resolve'],
      update: ['package', 'update'],
      list: [
        ['package', 'show-dependencies', '--format', 'json'],
        packages(
          json(dependency, (all) => below(all).map(({ identity, version }) => ({ name: identity, version }))),
        ),
      ],
    }),
    format: action('Format Swift code', 'Formats files below a folder (Swift 6).', ['write'], {
      role: 'format',
      run: ['format', '--in-place', '--recursive'],
      params: { only: operand(list(path('File or folder'), 'Which').default(['.'])) },
    }),
    clean: action('Clean a Swift package', 'Deletes what was built.', ['write', 'execute'], {
      run: ['package', 'clean'],
    }),
  },
});

const file = operand(path('Source', 'file'));
const optimize = choice(
  { debug: [], safe: '-OReleaseSafe', fast: '-OReleaseFast', small: '-OReleaseSmall' },
  'How',
);
/** `1/2 main.test.adds...FAIL (TestExpectedEqual)`, with what was printed before and a trace behind. */
const cases: Reader<Case[]> = ({ stdout, stderr }) =>
  `${stdout}\n${stderr}`.split(/^(?=\d+\/\d+ )/m).flatMap((chunk): Case[] => {
    const [, test, said = ''] = /^\d+\/\d+ (.+?)\.\.\. ?([^]*)/.exec(chunk) ?? [];
    if (test === undefined) return [];
    if (!/FAIL \(/.test(said))
      return [{ name: test, status: said.startsWith('SKIP') ? 'skipped' : 'passed' }];
    const [, file, line] = /^(\S+):(\d+):\d+: .* in test/m.exec(said) ?? [];
    const message = said.replace(/\n\S+:\d+:\d+: [^]*/, '');
    return [{ name: test, status: 'failed', message, ...(file && { file, line: Number(line) }) }];
  });
const zig = program('zig', {
  title: 'Zig',
  category: 'build',
  site: 'https://ziglang.org/documentation/master',
  get: { brew: 'zig', winget: 'zig.zig', pip: 'ziglang' },
  version: { args: ['version'], pattern: /^(\S+)/ },
  project: ['build.zig', 'build.zig.zon'],
  actions: {
    build: action('Build with Zig', 'Runs steps of build.zig; errors with their places.', runs, {
      ...checked,
      role: 'build',
      run: ['build', '--summary', 'none', '--color', 'off'],
      dashes: false,
      params: { steps: operand(list(name('Step'), 'The usual one unless told')) },
    }),
    tasks: action('List Zig build steps', 'Steps of build.zig with what they do.', runs, {
      role: 'tasks',
      run: ['build', '--list-steps'],
      out: tasks(
        lines(/^ +(?<name>\S+)(?: \(default\))? +(?<says>.+)$/, ({ name: step = '', says }) => ({
          name: step,
          says,
        })),
      ),
    }),
    task: action('Run a Zig build step', 'Runs one step of build.zig.', runs, {
      role: 'task',
      run: ({ task, args }) => ['build', task, '--', args],
      params: { task: operand(name('Step')), args: words('Arguments of what it runs') },
      given: { task: 'run', args: ['--help'] },
    }),
    check: action('Check a Zig file', 'Errors that can be seen without compiling.', ['read'], {
      ...checked,
      run: ['ast-check', '--color', 'off'],
      dashes: false,
      params: { file },
      given: { file: 'main.zig' },
    }),
    test: action('Run tests of a Zig file', 'Runs the tests in a file and what it imports.', runs, {
      run: ['test', '--color', 'off'],
      dashes: false,
      params: { optimize, filter: option('--test-filter', text('Only those whose name has this')), file },
      given: { file: 'main.zig' },
      ok: [0, 1],
      out: tests(cases),
    }),
    run: action('Run a Zig file', 'Compiles and runs one file.', runs, {
      run: ({ optimize: how, file: what, args }) => ['run', how, what, '--', args],
      params: { optimize, file, args: words('Its arguments') },
      given: { file: 'main.zig' },
    }),
    format: action('Format Zig code', 'Formats files; names those that changed.', ['write'], {
      role: 'format',
      run: ['fmt'],
      dashes: false,
      params: { only: operand(list(path('File or folder'), 'Which').default(['.'])) },
    }),
  },
});

export default [swift, zig];
