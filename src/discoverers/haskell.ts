import { on, operand, option, required, words } from '../core/parameter.ts';
import { list, name, path, text } from '../core/params.ts';
import { action, family, present, program, type Program, type ProgramAction } from '../core/program.ts';
import type { Reader } from '../core/report.ts';
import { saidAtLength, together } from './reports/diagnostics.ts';
import { diagnostics, packages, tests, type Case } from './reports/kinds.ts';
import { lines } from './reports/readers.ts';

const runs = ['execute', 'network'] as const;
// GHC indents what it says below the place, and draws the source with bars.
const ghcPlace = /(?<file>[^\s:]+\.\w+):(?:(?<line>\d+):(?<column>\d+)(?:-\d+)?|\(\d+,\d+\)-\(\d+,\d+\))/
  .source;
const ghcCode = /(?: \[(?<code>[\w-]+)\])?(?:[ ,]*\[[^\]]*\])*/.source;
const ghcText = /(?<message>.*(?:\n {2,}[^|\n]+)*)/.source;
const compiled = together(
  saidAtLength(new RegExp(`^${ghcPlace}: (?<level>error|warning):${ghcCode}${ghcText}`, 'gm')),
);
const checked = { ok: [0, 1] as number[], out: diagnostics(compiled) } as const;
const source = operand(path('Source', 'file'));

const ghc = program('ghc', {
  title: 'GHC',
  category: 'build',
  site: 'https://downloads.haskell.org/ghc/latest/docs/users_guide',
  get: { apt: 'ghc', brew: 'ghc', site: 'https://www.haskell.org/ghcup' },
  elsewhere: { linux: ['~/.ghcup/bin/ghc'], darwin: ['~/.ghcup/bin/ghc'], win32: ['C:/ghcup/bin/ghc.exe'] },
  project: ['*.hs'],
  settings: { LC_ALL: 'C.UTF-8' },
  marks: '-@',
  actions: {
    compile: action('Compile with GHC', 'Makes a program; errors with their places.', ['execute'], {
      ...checked,
      run: ['--make', '-Wall'],
      dashes: false,
      params: {
        optimize: on('-O', 'Optimised'),
        output: option('-o', path('New file', 'file', { written: true })),
        file: source,
      },
      given: { file: 'Main.hs', output: 'main' },
    }),
    check: action('Check Haskell code', 'Types and warnings; makes nothing.', ['execute'], {
      ...checked,
      run: ['-fno-code', '-Wall'],
      dashes: false,
      params: { file: source },
      given: { file: 'Main.hs' },
    }),
    eval: action('Evaluate Haskell', 'The value of an expression, with the names of a source.', ['execute'], {
      run: ({ code, file }) => [code, file],
      params: {
        code: required('-e', text('Expression: map succ [1, 2]')),
        file: operand(path('Source', 'file').optional()),
      },
      given: { code: 'main', file: 'Main.hs' },
    }),
  },
});

const suites: Reader<Case[]> = ({ stdout, stderr }) =>
  [
    ...`${stdout}\n${stderr}`.matchAll(
      /^(?:Test suite (\S+): (PASS|FAIL)|(\S+)> Test suite (\S+) (passed|failed))/gm,
    ),
  ].map(([, suite, state, , other = '', word]) => ({
    name: suite ?? other,
    status: (state ?? word ?? '').startsWith('FAIL') || word === 'failed' ? 'failed' : 'passed',
    message: stdout.slice(-800),
  }));
interface Row extends Pick<Program, 'title' | 'site' | 'get' | 'project' | 'environment'> {
  quiet: readonly string[];
  list?: ProgramAction;
  outdated?: ProgramAction;
}
const rows: Readonly<Record<string, Row>> = {
  cabal: {
    title: 'Cabal',
    site: 'https://cabal.readthedocs.io/en/stable/cabal-commands.html',
    get: { apt: 'cabal-install', brew: 'cabal-install' },
    project: ['cabal.project', '*.cabal'],
    environment: ['CABAL_DIR', 'CABAL_CONFIG'],
    quiet: ['-v1'],
    outdated: action('List outdated packages of Cabal', 'Packages whose bounds keep out newer ones.', runs, {
      role: 'outdated',
      run: ['outdated'],
      out: packages(
        lines(
          /^(?<name>[\w-]+) (?<wanted>.+) \(latest: (?<latest>\S+)\)|./,
          ({ name: one, wanted, latest }) => (one ? { name: one, version: wanted, latest } : undefined),
        ),
      ),
    }),
  },
  stack: {
    title: 'Stack',
    site: 'https://docs.haskellstack.org/en/stable/commands',
    get: { apt: 'haskell-stack', brew: 'haskell-stack' },
    project: ['stack.yaml'],
    environment: ['STACK_ROOT'],
    quiet: ['--color=never'],
    list: action('List packages of Stack', 'Packages that the project depends on.', runs, {
      role: 'list',
      run: ['ls', 'dependencies'],
      out: packages(
        lines(/^(?<name>[\w-]+) (?<version>\S+)$/, ({ name: one = '', version }) => ({ name: one, version })),
      ),
    }),
  },
};
const tools = family(rows, ({ title, quiet, list: listed, outdated, ...facts }) => ({
  title,
  category: 'build',
  ...facts,
  settings: { LC_ALL: 'C.UTF-8' },
  actions: present({
    build: action(`Build with ${title}`, 'Compiles packages; errors with their places.', runs, {
      ...checked,
      role: 'build',
      run: ['build', ...quiet],
      params: { targets: operand(list(name('Target'), 'All of the project unless told')) },
    }),
    test: action(`Run tests with ${title}`, 'Runs test suites, and shows the log of those that fail.', runs, {
      role: 'test',
      run: ['test', ...quiet],
      params: { only: operand(list(name('Suite'), 'Only these')) },
      ok: [0, 1],
      out: tests(suites),
    }),
    run: action(`Run a program with ${title}`, 'Builds and runs a program of the project.', runs, {
      run: ({ program: of, args }) => ['run', ...quiet, of, '--', args],
      params: { program: operand(name('Program').optional()), args: words('Its arguments') },
      given: { program: 'shop', args: ['--help'] },
    }),
    install: action(`Get packages with ${title}`, 'Gets and builds what the project needs.', runs, {
      role: 'install',
      run: ['build', '--only-dependencies', ...quiet],
    }),
    clean: action(`Clean with ${title}`, 'Deletes what was built.', ['write'], { run: ['clean'] }),
    list: listed,
    outdated,
  }),
}));

export default [ghc, ...tools];
