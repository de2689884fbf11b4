import { fresh, glue } from '../core/command-line.ts';
import { on, operand, option, words } from '../core/parameter.ts';
import { list, name, path, text } from '../core/params.ts';
import { action, program } from '../core/program.ts';
import { tests } from './reports/kinds.ts';
import { junit } from './reports/xml.ts';
import { exactly } from './shared/test-names.ts';

export default [
  program('node', {
    title: 'Node.js',
    category: 'runtime',
    site: 'https://nodejs.org',
    get: { apt: 'nodejs', brew: 'node', winget: 'OpenJS.NodeJS.LTS' },
    elsewhere: { win32: ['%ProgramFiles%\\nodejs\\node.exe'] },
    project: ['package.json', '.nvmrc', '.node-version'],
    environment: ['NODE_ENV', 'NODE_EXTRA_CA_CERTS'],
    settings: { NO_COLOR: '1' },
    actions: {
      run: action(
        'Run a Node.js script',
        'Runs a JavaScript file; TypeScript too from Node.js 22.18.',
        ['execute'],
        {
          run: ({ file, args }) => [file, args],
          params: { file: operand(path('Script to run', 'file')), args: words('Arguments of the script') },
          given: { file: 'scripts/seed.js', args: ['--rows', '10'] },
        },
      ),
      eval: action(
        'Evaluate JavaScript with Node.js',
        'Runs code given as text; prints what it evaluates to.',
        ['execute'],
        {
          run: ({ print, code }) => [print, code],
          params: {
            print: on('--print', 'Print the value of the last expression', '--eval'),
            code: operand(text('JavaScript')),
          },
          given: { code: 'process.versions.v8', print: true },
        },
      ),
      test: action('Run Node.js tests', 'Runs tests of node:test; failures with their places.', ['execute'], {
        role: 'test',
        // From 20 on, and 18.17.
        run: ['--test', '--test-reporter=junit', glue('--test-reporter-destination=', fresh('report.xml'))],
        params: {
          only: option('--test-name-pattern=', list(text('Test'), 'Only tests of these names'), exactly),
          files: operand(list(path('File'), 'Test files; none: found by their names')),
        },
        given: { files: ['test/cart.test.js'], only: ['total adds up'] },
        dashes: false,
        ok: [0, 1],
        out: tests(junit((one) => one.name)),
      }),
      check: action('Check JavaScript syntax', 'Parses a JavaScript file without running it.', ['read'], {
        run: ['--check'],
        params: { file: operand(path('File to check', 'file')) },
        given: { file: 'src/cart.js' },
        dashes: false,
      }),
    },
  }),
  program('npx', {
    title: 'npx',
    category: 'package-manager',
    site: 'https://docs.npmjs.com/cli/commands/npx',
    get: { site: 'https://nodejs.org/en/download', brew: 'node', winget: 'OpenJS.NodeJS.LTS' },
    // It asks, and fetches, when a program is not there.
    settings: {
      NO_COLOR: '1',
      npm_config_offline: 'true',
      npm_config_yes: 'false',
      npm_config_update_notifier: 'false',
    },
    hints: [
      {
        says: /ENOTCACHED|npx canceled|could not determine executable/,
        wayOut: 'It is not installed in this project. Only what is installed is run: add its package first.',
      },
    ],
    actions: {
      run: action(
        'Run an installed program with npx',
        'Runs a program of node_modules; fetches nothing.',
        ['execute'],
        {
          run: ({ program: named, args }) => ['--no', '--', named, args],
          params: { program: operand(name('Program')), args: words('Its arguments') },
          given: { program: 'tsc', args: ['--noEmit'] },
        },
      ),
    },
  }),
];
