import * as z from 'zod';
import { defineDiscoverer } from '../core/discoverer.ts';
import { list, path, text } from '../core/params.ts';

export const node = defineDiscoverer({
  id: 'node',
  title: 'Node.js',
  category: 'runtime',
  homepage: 'https://nodejs.org',
  programs: ['node'],
  version: { args: ['--version'], pattern: /^v(\S+)/ },
  elsewhere: {
    win32: ['%ProgramFiles%\\nodejs\\node.exe'],
  },
  install: {
    linux: 'Install Node.js from https://nodejs.org/en/download or with a version manager such as fnm.',
    darwin: 'brew install node',
    win32: 'winget install OpenJS.NodeJS.LTS',
  },
  signals: {
    files: ['package.json', '.nvmrc', '.node-version'],
    extensions: ['.js', '.mjs', '.cjs', '.ts', '.mts', '.cts'],
  },
  environment: ['NODE_ENV', 'NODE_EXTRA_CA_CERTS'],

  actions: {
    run: {
      title: 'Run a script',
      description: 'Runs a JavaScript file with Node.js; TypeScript too from Node.js 22.18.',
      effects: ['execute'],
      params: {
        file: path('Script to run', 'file'),
        args: list(z.string(), 'Arguments of the script'),
      },
      argv: [{ param: 'file' }, { rest: 'args' }],
      example: {
        given: { file: 'scripts/seed.js', args: ['--rows', '10'] },
        runs: 'node scripts/seed.js --rows 10',
      },
    },

    test: {
      title: 'Run Node.js tests',
      description: "Runs tests written for Node.js's own test runner (node:test).",
      effects: ['execute'],
      params: {
        files: list(path('Test file', 'file'), 'Test files; none: found by their names'),
        name_pattern: text('Only tests whose name matches this regular expression').optional(),
      },
      // The default reporter differs between versions; this one is readable and in all of them.
      argv: [
        '--test',
        '--test-reporter=spec',
        { option: '--test-name-pattern=', param: 'name_pattern' },
        { each: 'files' },
      ],
      example: {
        given: { files: ['test/cart.test.js'], name_pattern: 'total' },
        runs: 'node --test --test-reporter=spec --test-name-pattern=total test/cart.test.js',
      },
    },

    check: {
      title: 'Check syntax',
      description: 'Parses a JavaScript file without running it; fails with the position of a syntax error.',
      effects: ['read'],
      params: { file: path('File to check', 'file') },
      argv: ['--check', { param: 'file' }],
      example: { given: { file: 'src/cart.js' }, runs: 'node --check src/cart.js' },
    },
  },
});
