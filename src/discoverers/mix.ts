import { on, operand, option, required, words } from '../core/parameter.ts';
import { list, name, text } from '../core/params.ts';
import { action, program } from '../core/program.ts';
import type { Reader } from '../core/report.ts';
import { saidAtLength, together } from './reports/diagnostics.ts';
import { diagnostics, packages, tasks, tests, type Case } from './reports/kinds.ts';
import { lines } from './reports/readers.ts';
import { packageActions } from './shared/packages.ts';

const runs = ['execute', 'network'] as const;
const place = /(?<file>[^\s:]+):(?<line>\d+)(?::(?<column>\d+))?/.source;
const message = /(?<message>.+(?:\n(?! *\d* *[│└]|  \S+:\d).+){0,20})\n/.source;
const compiled = together(
  saidAtLength(
    new RegExp(`^ *(?<level>warning|error): ${message}(?:(?:.*│.*\\n){0,20} *└─ |  )${place}`, 'gm'),
  ),
  saidAtLength(new RegExp(`^\\*\\* \\((?<code>\\w+Error)\\) ${place}: (?<message>.+)`, 'gm')),
);

const many = (all: string, of: RegExp) =>
  [...all.matchAll(of)].reduce((sum, [, number]) => sum + Number(number), 0);
/** Only those that failed are named: by their place, as mix takes them. */
const cases: Reader<Case[]> = ({ stdout }) => {
  const [summary = ''] = /^\d+ \w+, .*\d+ failures?.*$/m.exec(stdout) ?? [];
  const failed = /^ +\d+\) (.+)\n +(\S+:\d+)\n((?: {5}.*\n)+)/gm;
  const failures = [...stdout.matchAll(failed)].map(([, test, at = '', why = '']): Case => {
    const message = `${test}\n${why.replace(/^ +stacktrace:[^]*/m, '').replaceAll(/^ +/gm, '')}`;
    return { name: at, status: 'failed', message };
  });
  const skipped = many(summary, /(\d+) skipped/g);
  const passed =
    many(summary, /(\d+) (?:doctests?|tests?|propert\w+)/g) -
    skipped -
    many(summary, /(\d+) (?:failures?|invalid|excluded)/g);
  const unnamed = (status: Case['status'], length: number) =>
    Array.from({ length }, (): Case => ({ name: '', status }));
  return [...failures, ...unnamed('passed', passed), ...unnamed('skipped', skipped)];
};

const listed: Reader<{ name: string }[]> = ({ stdout }) =>
  [...stdout.matchAll(/^\* (\w+)(?: (\d\S*))? \(([^)]+)\).*\n(?: +locked at (\S+).*\n)? +(.+)/gm)].map(
    ([, one = '', version, group, locked, problem]) => ({
      ...{ name: one, version: version ?? locked, group },
      ...(problem !== 'ok' && { problem }),
    }),
  );
const older = lines(
  /^(?<name>\w+) +(?:\w+ +)?(?<version>\d\S+) +(?<latest>\d\S+) +\S|./,
  ({ name: one, version, latest }) =>
    one && version !== latest ? { name: one, version, latest } : undefined,
);
const dependencies = operand(list(name('Package'), 'Only these'));
export default program('mix', {
  title: 'Mix',
  category: 'build',
  site: 'https://hexdocs.pm/mix',
  get: { apt: 'elixir', brew: 'elixir', winget: 'ElixirLang.Elixir' },
  version: { args: ['--version'], pattern: /Mix (\S+)/ },
  project: ['mix.exs'],
  environment: ['HEX_HOME', 'MIX_HOME'],
  settings: { ELIXIR_ERL_OPTIONS: '+fnu' },
  hints: [{ says: /Could not find Hex/, wayOut: 'mix_task with local.hex and --force gets it.' }],
  actions: {
    build: action('Compile Elixir code', 'Compiles the project; errors and warnings with places.', runs, {
      role: 'build',
      run: ['compile'],
      params: {
        all: on('--force', 'Also what has not changed'),
        strict: on('--warnings-as-errors', 'Warnings fail'),
      },
      ok: [0, 1],
      out: diagnostics(compiled),
    }),
    test: action('Run Elixir tests', 'Runs the tests; failures named by their places.', runs, {
      role: 'test',
      run: ['test', '--no-color'],
      dashes: false,
      params: {
        again: on('--failed', 'Only those that failed last time'),
        tags: option('--only', list(text('Tag: slow, type:unit'), 'Only those with them')),
        only: operand(list(name('test/cart_test.exs, test/cart_test.exs:12'), 'Only these files or places')),
      },
      given: { only: ['test/cart_test.exs:12'] },
      ok: [0, 2],
      out: tests(cases),
    }),
    format: action('Format Elixir code', 'Formats files, or says which are not.', ['write', 'execute'], {
      role: 'format',
      run: ['format'],
      params: { check: on('--check-formatted', 'Only say which are not') },
    }),
    tasks: action('List Mix tasks', 'Tasks that there are here.', runs, {
      role: 'tasks',
      run: ['help'],
      out: tasks(
        lines(/^mix (?<name>[\w.-]+) +# (?<says>.+)$|./, ({ name: one, says }) =>
          one ? { name: one, says } : undefined,
        ),
      ),
    }),
    task: action('Run a Mix task', 'Runs one task: ecto.migrate, credo, docs, phx.routes.', runs, {
      role: 'task',
      run: ({ task, args }) => [task, args],
      params: { task: operand(name('Task')), args: words('Its arguments') },
      given: { task: 'ecto.migrate' },
    }),
    eval: action('Run Elixir code in the project', 'Evaluates code with the project loaded.', runs, {
      run: ['run'],
      params: {
        start: on([], 'Start the application', '--no-start'),
        code: required('-e', text('Elixir code')),
      },
      given: { code: 'IO.inspect(Shop.add(1, 2))' },
    }),
    update: action('Update Elixir packages', 'Moves mix.lock to the newest versions that fit.', runs, {
      role: 'update',
      run: ['deps.update'],
      params: { all: on('--all', 'All of them'), packages: dependencies },
      given: { packages: ['jason'] },
    }),
    ...packageActions('Elixir packages', {
      ...{ like: 'jason', changes: runs, looks: runs, install: ['deps.get'] },
      list: [['deps'], packages(listed)],
    }),
    outdated: action('List outdated Elixir packages', 'Packages that have newer versions.', runs, {
      role: 'outdated',
      run: ['hex.outdated'],
      ok: [0, 1],
      out: packages(older),
    }),
    tree: action('Show the tree of Elixir packages', 'Packages with what they need.', runs, {
      run: ['deps.tree'],
    }),
  },
});
