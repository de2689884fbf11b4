import * as z from 'zod';
import {
  action,
  choice,
  fresh,
  type InspectionRequest,
  list,
  name,
  on,
  operand,
  option,
  path,
  program,
  type Program,
  type ProjectFiles,
  type Reader,
  text,
  upwards,
} from '../core/grammar.ts';
import { said } from './reports/diagnostics.ts';
import { diagnostics, level, packages, tasks, tests, type TestCase } from './reports/kinds.ts';
import { json, lines } from './reports/readers.ts';
import { packageActions } from './shared/packages.ts';
import { here, makes, reaches, reads, runs, runsCode, runsFile, runsProgram } from './shared/programs.ts';
import { ofNamedTask, taskWords } from './shared/tasks.ts';

const file = operand(path('File', 'file'));
const environment = ['GEM_HOME', 'GEM_PATH', 'BUNDLE_PATH'];
const missing = [
  { says: /Could not find .* in|Bundler::GemNotFound/, wayOut: 'bundle_install installs the gems.' },
];

/** A gem that the project's lock file has is run as `bundle exec` runs it. */
const bundled =
  (gem: string) =>
  async (look: ProjectFiles, { folder, roots }: InspectionRequest) => {
    for (const above of upwards(folder, roots)) {
      const lock = await look.read(`${above}/Gemfile.lock`);
      if (lock === undefined) continue;
      const has = new RegExp(`^ {4}${gem} \\(`, 'm').test(lock);
      return has ? { env: { RUBYOPT: '-rbundler/setup', BUNDLE_GEMFILE: `${above}/Gemfile` } } : {};
    }
    return {};
  };
const gem = (
  id: string,
  facts: Pick<Program, 'title' | 'site' | 'get' | 'project' | 'actions' | 'everyday'>,
) =>
  program(id, {
    ...facts,
    category: 'build',
    own: { posix: [`bin/${id}`], win32: [] },
    environment,
    inspect: bundled(id),
    hints: missing,
  });

const ruby = program('ruby', {
  title: 'Ruby',
  category: 'runtime',
  site: 'https://docs.ruby-lang.org',
  get: { apt: 'ruby', brew: 'ruby', winget: 'RubyInstallerTeam.Ruby.3.4' },
  project: ['Gemfile', '*.gemspec', '*.rb', '.ruby-version'],
  environment,
  actions: {
    run: runsFile('Run a Ruby script', 'tool.rb'),
    eval: runsCode('Run Ruby code', '-e', 'puts ARGV', '--'),
    check: action('Check Ruby syntax', 'Parses a file, with warnings; does not run it.', reads, {
      run: ['-wc'],
      params: { file },
      given: { file: 'cart.rb' },
      ok: [0, 1],
      out: diagnostics(
        said(/^(?<file>[^\s:][^:]*):(?<line>\d+): (?:(?<level>warning): )?(?<message>.+)$/, /^Syntax OK$/m),
      ),
    }),
  },
});

const outdated = lines(
  /^(?<of>\S+) \(newest (?<latest>[^\s,]+), installed (?<version>[^\s,)]+)/,
  ({ of = '', version, latest }) => ({ name: of, version, latest }),
);
const bundle = program('bundle', {
  everyday: 'add check install list outdated remove update exec…',
  title: 'Bundler',
  category: 'package-manager',
  site: 'https://bundler.io',
  get: { apt: 'bundler', brew: 'ruby', site: 'https://bundler.io' },
  project: ['Gemfile', 'Gemfile.lock'],
  environment,
  settings: { NO_COLOR: '1', BUNDLE_SILENCE_ROOT_WARNING: '1' },
  hints: missing,
  actions: {
    ...packageActions('gems of Bundler', {
      like: 'rack',
      changes: makes,
      looks: reaches,
      list: [
        ['list'],
        packages(
          lines(/^ +\* (?<of>\S+) \((?<version>[^\s)]+)/, ({ of = '', version }) => ({ name: of, version })),
        ),
      ],
      outdated: [['outdated', '--parseable'], packages(outdated)],
      add: ['add'],
      adding: {
        version: option('--version=', text('Bounds: ~> 3.1')),
        dev: on('--group=development', 'For development only'),
      },
      remove: ['remove'],
      update: ['update'],
      install: ['install'],
    }),
    exec: runsProgram('Run with Bundler', 'Runs a program of the bundle.', ['exec'], 'rails'),
  },
});

/** A task at the beginning of a line: in a namespace it has another name. */
const rakeTask = new RegExp(
  String.raw`^(?:(?:multi)?task|\S*` +
    String.raw`(?<kind>Test|Rake)Task\.(?:new|create))(?:[ (]+:?["']?(?!do\b)(?<of>\w+(?::\w+)*)|(?= |$))`,
);
const rake = gem('rake', {
  title: 'Rake',
  site: 'https://ruby.github.io/rake',
  get: { apt: 'rake', brew: 'ruby' },
  project: ['Rakefile', 'rakefile', 'Rakefile.rb'],
  // Tasks, and no code.
  everyday: /^(?:(?:[^\s-]\S*|-[TPnqstv]+)(?: |$))*$/,
  actions: {
    scripts: action('List tasks of a Rakefile', 'Tasks that it names; runs nothing.', reads, {
      role: 'tasks',
      run: { reads: ['Rakefile', 'rakefile', 'Rakefile.rb'] },
      out: tasks(lines(rakeTask, ({ of, kind }) => ({ name: of ?? (kind === 'Rake' ? 'spec' : 'test') }))),
    }),
    tasks: action('List Rake tasks', 'Tasks of the Rakefile with what they do.', runs, {
      role: 'tasks',
      run: ['--all', '--tasks'],
      out: tasks(lines(/^rake (?<of>\S+) +#\s*(?<says>\S.*)?$/, ({ of = '', says }) => ({ name: of, says }))),
    }),
    task: action('Run a Rake task', 'Runs one task.', reaches, {
      role: 'task',
      moreEffects: ofNamedTask,
      run: ({ task, args: rest }) => [task, rest],
      params: {
        task: operand(name('Task, with arguments: hello[you]')),
        args: taskWords(/^[A-Za-z_][^]*$/, 'a task or NAME=value', 'More tasks, or NAME=value'),
      },
      given: { task: 'spec' },
    }),
  },
});

const failure = z.object({
  class: z.string(),
  message: z.string(),
  backtrace: z.array(z.string()).nullable(),
});
const example = z.object({
  id: z.string(),
  full_description: z.string(),
  status: z.string(),
  file_path: z.string(),
  line_number: z.int(),
  exception: failure.optional(),
});
const spec = z.object({ messages: z.array(z.string()).default([]), examples: z.array(example) });
const loading = /An error occurred while loading (\S+?)\.?(?: |$)/m;
const examples = json(spec, ({ messages, examples: all }): TestCase[] => [
  ...messages.flatMap((message): TestCase[] => {
    const broken = loading.exec(message)?.[1];
    return broken ? [{ name: broken, status: 'failed', message: message.trim() }] : [];
  }),
  ...all.map(
    ({ id, full_description: of, status, file_path: at, line_number: line, exception }): TestCase => {
      const frame = exception?.backtrace?.find((one) => one.includes(at.replace('./', '/')));
      return {
        name: id,
        status: status === 'failed' ? 'failed' : status === 'passed' ? 'passed' : 'skipped',
        file: at.replace('./', ''),
        line: Number(/:(\d+)/.exec(frame ?? '')?.[1] ?? line),
        ...(exception && { message: `${of}: ${exception.message.trim().replaceAll(/\n\s*/g, '; ')}` }),
      };
    },
  ),
]);
const results: Reader<TestCase[]> = (output) =>
  examples({ ...output, stdout: Object.values(output.files)[0] ?? '' });

const rspec = gem('rspec', {
  title: 'RSpec',
  site: 'https://rspec.info',
  get: { apt: 'ruby-rspec', site: 'https://rspec.info' },
  project: ['.rspec', 'spec'],
  actions: {
    test: action('Run Ruby tests with RSpec', 'Runs examples; failures with their places.', runs, {
      role: 'test',
      run: ['--no-color', '--format', 'json', '--out', fresh('report.json')],
      dashes: false,
      params: {
        matching: option('--example', text('Part of what they are called')),
        first: on('--fail-fast', 'Stop at the first failure'),
        only: operand(list(text('File, file:line or id'), 'Only these: spec/cart_spec.rb[1:2]')),
      },
      given: { only: ['spec/cart_spec.rb:4'] },
      ok: [0, 1],
      out: tests(results),
    }),
  },
});

const offense = z.object({
  severity: z.string(),
  message: z.string(),
  cop_name: z.string(),
  corrected: z.boolean().nullish(),
  location: z.object({ line: z.int(), column: z.int() }),
});
const offenses = z.object({ files: z.array(z.object({ path: z.string(), offenses: z.array(offense) })) });

const rubocop = gem('rubocop', {
  title: 'RuboCop',
  site: 'https://docs.rubocop.org',
  get: { apt: 'rubocop', brew: 'rubocop', site: 'https://docs.rubocop.org' },
  project: ['.rubocop.yml'],
  actions: {
    check: action('Lint Ruby with RuboCop', 'Problems in Ruby code; can mend them.', ['execute', 'write'], {
      role: 'lint',
      run: ['--format', 'json'],
      params: {
        fix: choice({ no: [], safe: '--autocorrect', all: '--autocorrect-all' }, 'What to correct'),
        only: here,
      },
      given: { fix: 'safe' },
      ok: [0, 1],
      out: diagnostics(
        json(offenses, ({ files }) =>
          files.flatMap(({ path: of, offenses: all }) =>
            all
              .filter(({ corrected }) => corrected !== true)
              .map(({ severity, message, cop_name: code, location }) => ({
                level: level(severity),
                message,
                code,
                file: of,
                line: location.line,
                column: location.column,
              })),
          ),
        ),
      ),
    }),
    format: action('Format Ruby with RuboCop', 'Corrects the layout of files.', ['execute', 'write'], {
      role: 'format',
      run: [],
      params: { check: on(['--only', 'Layout'], 'Only say where', '--fix-layout'), only: here },
      ok: [0, 1],
    }),
  },
});

export default [ruby, bundle, rake, rspec, rubocop];
