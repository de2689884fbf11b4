import { action, fresh, glue, list, on, operand, option, path, program, text } from '../core/grammar.ts';
import { tests } from './reports/kinds.ts';
import { junit } from './reports/xml.ts';
import { exactly, reads, runs, runsFile, testNames as names } from './shared/programs.ts';

export default program('node', {
  title: 'Node.js',
  category: 'runtime',
  site: 'https://nodejs.org',
  get: { apt: 'nodejs', brew: 'node', winget: 'OpenJS.NodeJS.LTS' },
  elsewhere: { win32: ['%ProgramFiles%\\nodejs\\node.exe'] },
  project: ['package.json', '.nvmrc', '.node-version'],
  environment: ['NODE_ENV', 'NODE_EXTRA_CA_CERTS'],
  settings: { NO_COLOR: '1' },
  everyday: {
    // No code in an option: --import=data:…
    node: /^(?:--test(?: [\w./*=-]+)*$|(?:--[\w-]+(?:=[\w./-]*)? )*(?<file>[^-]\S*))/,
    tsx: /^(?<file>[^-]\S*)/,
  },
  actions: {
    run: runsFile('Run a Node.js script', 'scripts/seed.js', 'Runs a JavaScript or TypeScript file.'),
    eval: action('Evaluate JavaScript with Node.js', 'Runs code given as text.', runs, {
      run: ({ print, code }) => [print, code],
      params: {
        print: on('--print', 'Print the value of the last expression', '--eval'),
        code: operand(text('JavaScript')),
      },
      given: { code: 'process.versions.v8', print: true },
    }),
    test: action('Run Node.js tests', 'Runs tests of node:test; failures with their places.', runs, {
      role: 'test',
      // From 20 on, and 18.17.
      run: ['--test', '--test-reporter=junit', glue('--test-reporter-destination=', fresh('report.xml'))],
      params: {
        only: option('--test-name-pattern=', names, exactly),
        files: operand(list(path('File'), 'Test files; none: found by their names')),
      },
      given: { files: ['test/cart.test.js'], only: ['total adds up'] },
      dashes: false,
      ok: [0, 1],
      out: tests(junit((one) => one.name)),
    }),
    check: action('Check JavaScript syntax', 'Parses a JavaScript file without running it.', reads, {
      run: ['--check'],
      params: { file: operand(path('File to check', 'file')) },
      given: { file: 'src/cart.js' },
      dashes: false,
    }),
  },
});
