import * as z from 'zod';
import {
  action,
  fresh,
  list,
  matching,
  name,
  on,
  operand,
  option,
  path,
  program,
  type Program,
  type Reader,
  text,
  words,
} from '../core/grammar.ts';
import { said } from './reports/diagnostics.ts';
import { diagnostics, packages, tasks, tests, type TestCase } from './reports/kinds.ts';
import { json } from './reports/readers.ts';
import { junit } from './reports/xml.ts';
import { packageActions } from './shared/packages.ts';
import { makes, reaches, reads, runs, runsCode, runsFile } from './shared/programs.ts';
import { ofNamedTask } from './shared/tasks.ts';

const args = words('Arguments of the program');

const file = operand(path('File', 'file'));
const vendor = (id: string): NonNullable<Program['own']> => ({
  posix: [`vendor/bin/${id}`],
  win32: [`vendor/bin/${id}.bat`],
});

const php = program('php', {
  title: 'PHP',
  category: 'runtime',
  site: 'https://www.php.net/manual/en/features.commandline.options.php',
  get: { apt: 'php-cli', brew: 'php', winget: 'PHP.PHP.8.4' },
  project: ['composer.json', '*.php'],
  actions: {
    run: runsFile('Run a PHP script', 'artisan'),
    eval: runsCode('Run PHP code', '-r', 'print_r($argv);', '--'),
    check: action('Check PHP syntax', 'Parses a file without running it.', reads, {
      run: ['-d', 'display_errors=stderr', '-d', 'log_errors=0', '-l'],
      dashes: false,
      params: { file },
      given: { file: 'src/Cart.php' },
      ok: [0, 255],
      out: diagnostics(
        said(
          new RegExp(
            String.raw`^(?:PHP )?(?:\w+ )?(?<level>error|Warning|Deprecated): +` +
              String.raw`(?<message>.+) in (?<file>.+) on line (?<line>\d+)$`,
          ),
          /^No syntax errors detected in .*$/m,
        ),
      ),
    }),
  },
});

const one = z.object({ name: z.string(), version: z.string(), latest: z.string().optional() });
// Of nothing Composer makes a list.
const listed = z.object({ installed: z.array(one) }).or(z.tuple([]));
const installed = json(listed, (all) =>
  'installed' in all
    ? all.installed.map(({ name: of, version, latest }) => ({ name: of, version, latest }))
    : [],
);
const manifest = z.object({
  scripts: z.record(z.string(), z.union([z.string(), z.array(z.string())])).default({}),
  'scripts-descriptions': z.record(z.string(), z.string()).default({}),
});
const scripts: Reader<{ name: string; command: string; says?: string | undefined }[]> = ({ files }) => {
  const found = manifest.parse(JSON.parse(Object.values(files)[0] ?? ''));
  return Object.entries(found.scripts).map(([key, command]) => ({
    name: key,
    command: [command].flat().join(' && '),
    says: found['scripts-descriptions'][key],
  }));
};
const vendorName = /^[a-z0-9][\w.-]*\/[\w.-]+(?:[:=][^\s]+)?$/i;
const dependency = matching(vendorName, 'vendor/name or vendor/name:^1.2', 'vendor/name, vendor/name:^1.2');
const composer = program('composer', {
  everyday: 'dump-autoload install outdated remove require run run-script show test update validate why',
  title: 'Composer',
  category: 'package-manager',
  site: 'https://getcomposer.org/doc/03-cli.md',
  get: { apt: 'composer', brew: 'composer', site: 'https://getcomposer.org/download' },
  project: ['composer.json', 'composer.lock'],
  environment: ['COMPOSER_HOME', 'COMPOSER_CACHE_DIR', 'COMPOSER_AUTH'],
  before: ['--no-interaction', '--no-ansi'],
  actions: {
    ...packageActions('Composer packages', {
      like: 'monolog/monolog',
      spec: dependency,
      bare: dependency,
      changes: makes,
      looks: reaches,
      listing: { direct: on('--direct', 'Only those of composer.json') },
      list: [['show', '--format=json'], packages(installed)],
      outdated: [['outdated', '--format=json'], packages(installed)],
      add: ['require', '--no-progress'],
      adding: { dev: on('--dev', 'For development') },
      remove: ['remove', '--no-progress'],
      absent: /^(\S+) is not required in your composer\.json/gm,
      update: ['update', '--no-progress'],
      install: ['install', '--no-progress'],
      getting: { production: on('--no-dev', 'Without what development needs') },
      why: ['why'],
    }),
    tasks: action('List Composer scripts', 'Scripts of composer.json.', reads, {
      role: 'tasks',
      run: { reads: ['composer.json'] },
      out: tasks(scripts),
    }),
    run_script: action('Run a Composer script', 'Runs a script of composer.json.', reaches, {
      role: 'task',
      moreEffects: ofNamedTask,
      run: ({ task, args: rest }) => ['run-script', task, '--', rest],
      params: { task: operand(name('Script')), args },
      given: { task: 'test', args: ['--filter=Cart'] },
    }),
  },
});

/** `Shop\CartTest::testAdds`, or a class: PHPUnit takes one regular expression. */
const filter = (all: readonly string[]) => {
  const exact = all.map((one) => one.replaceAll(/[.*+?^${}()|[\]\\/#"]/g, String.raw`\$&`));
  return String.raw`/(?:^|\\)(?:${exact.join('|')})(?:$|::| with data set )/`;
};
const cases: Reader<TestCase[]> = (output) => {
  // The first line of a failure is its name once more.
  const texts = Object.entries(output.files).map(([key, said_]) => [
    key,
    said_.replaceAll(/(<(?:failure|error)[^>]*>)[^\n<]*\n/g, '$1'),
  ]);
  const read = junit(({ of, name: method }) => `${of.replaceAll('.', '\\')}::${method}`);
  return read({ ...output, files: Object.fromEntries(texts) as Record<string, string> });
};

const phpunit = program('phpunit', {
  title: 'PHPUnit',
  category: 'build',
  site: 'https://docs.phpunit.de',
  get: { apt: 'phpunit', brew: 'phpunit', site: 'https://phpunit.de' },
  project: [
    'phpunit.xml',
    'phpunit.xml.dist',
    'phpunit.dist.xml',
    { file: 'composer.json', has: /"phpunit\/phpunit"/ },
  ],
  own: vendor('phpunit'),
  actions: {
    test: action('Run PHP tests with PHPUnit', 'Runs tests; failures with their places.', runs, {
      role: 'test',
      run: ['--colors=never', '--log-junit', fresh('report.xml')],
      params: {
        only: option('--filter=', list(text('Test'), 'Only these: Shop\\CartTest::testAdds'), filter),
        first: on('--stop-on-failure', 'Stop at the first failure'),
        path: operand(path('File or folder').optional()),
      },
      given: { only: ['CartTest::testAdds'], path: 'tests' },
      ok: [0, 1, 2],
      out: tests(cases),
    }),
  },
});

const message = z.object({
  message: z.string(),
  line: z.int().nullable(),
  identifier: z.string().optional(),
});
const found = z.object({
  files: z.union([z.record(z.string(), z.object({ messages: z.array(message) })), z.array(z.never())]),
  errors: z.array(z.string()),
});

const phpstan = program('phpstan', {
  title: 'PHPStan',
  category: 'build',
  site: 'https://phpstan.org/user-guide/command-line-usage',
  get: { site: 'https://phpstan.org/user-guide/getting-started' },
  project: ['phpstan.neon', 'phpstan.neon.dist', 'phpstan.dist.neon'],
  own: vendor('phpstan'),
  actions: {
    types: action('Check PHP with PHPStan', 'Type errors and bugs with their places.', ['execute', 'write'], {
      role: 'types',
      run: ['analyse', '--no-progress', '--no-ansi', '--error-format=json', '--no-interaction'],
      params: {
        level: option('--level=', z.int().min(0).max(10).describe('How strict')),
        memory: option('--memory-limit=', name('Most memory: 1G')),
        only: operand(list(path('File or folder'), 'Only these')),
      },
      given: { level: 5, only: ['src'] },
      ok: [0, 1],
      out: diagnostics(
        json(found, ({ files, errors }) => [
          ...errors.map((error) => ({ level: 'error' as const, message: error })),
          ...Object.entries(files).flatMap(([of, { messages }]) =>
            messages.map(({ message: says, line, identifier: code }) => ({
              level: 'error' as const,
              message: says,
              file: of,
              ...(code && { code }),
              ...(line !== null && { line }),
            })),
          ),
        ]),
      ),
    }),
  },
});

export default [php, composer, phpunit, phpstan];
