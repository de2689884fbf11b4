import * as z from 'zod';
import { stripVTControlCharacters } from 'node:util';
import { fresh, glue } from '../core/command-line.ts';
import { on, operand, option } from '../core/parameter.ts';
import { list, name, path, text } from '../core/params.ts';
import { action, program, type Evidence } from '../core/program.ts';
import { tests, type Case } from './reports/kinds.ts';
import { filed, json } from './reports/readers.ts';
import { nodeBin } from './shared/own.ts';
import { exactly } from './shared/test-names.ts';

const names = list(text('Test'), 'Only tests of these full names');
const files = list(path('File'), 'Only these files');
const update = (words: string) => on(words, 'Write snapshots anew');
const changed = (words: string) => on(words, 'Only what uncommitted changes reach');
const inPackage = (of: string): Evidence => ({ file: 'package.json', has: new RegExp(`"${of}":`) });

/** The place in a test file that a stack names, and what stands before the stack. */
const failed = (stack: string, file: string) => {
  const message = stack.split(/\n\s+at /)[0];
  const [, line, column] = stack.slice(stack.indexOf(file) + file.length).match(/^:(\d+):(\d+)/) ?? [];
  return {
    message,
    file,
    ...(line && stack.includes(file) && { line: Number(line), column: Number(column) }),
  };
};

const state = (status: string): Case['status'] =>
  status === 'passed' || status === 'failed' ? status : 'skipped';
const assertion = z.object({
  fullName: text(''),
  status: z.string(),
  failureMessages: z.array(z.string()).nullish(),
});
const results = z.array(
  z.object({ name: z.string(), message: z.string().default(''), assertionResults: z.array(assertion) }),
);
/** The JSON of Jest, which Vitest writes, too. A file that fails before its tests has none. */
const jestCases = filed((report) =>
  z
    .object({ testResults: results })
    .parse(JSON.parse(report))
    .testResults.flatMap((file): Case[] => {
      const message = stripVTControlCharacters(file.message);
      if (file.assertionResults.length === 0)
        return [{ name: file.name, status: 'failed', message, file: file.name }];
      return file.assertionResults.map(({ fullName, status, failureMessages }) => ({
        name: fullName,
        status: state(status),
        ...(failureMessages?.[0] && failed(stripVTControlCharacters(failureMessages[0]), file.name)),
      }));
    }),
);

const mochaTest = z.object({
  fullTitle: z.string(),
  file: z.string().nullish(),
  err: z.object({ stack: z.string().optional() }),
});
const mochaReport = z.object({ tests: z.array(mochaTest), pending: z.array(mochaTest) });
const mochaCases = filed((report) => {
  const { tests: all, pending } = mochaReport.parse(JSON.parse(report));
  const skipped = new Set(pending.map(({ fullTitle }) => fullTitle));
  return all.map(({ fullTitle, file, err: { stack } }): Case => ({
    name: fullTitle,
    status: stack ? 'failed' : skipped.has(fullTitle) ? 'skipped' : 'passed',
    // Its traces are relative.
    ...(stack && {
      ...failed(stack, /\(?([^\s(]+):\d+:\d+\)?/.exec(stack)?.[1] ?? ''),
      ...(file && { file }),
    }),
  }));
});

const spot = z.object({ file: z.string(), line: z.int(), column: z.int() });
const problem = z.object({ message: z.string(), location: spot.optional() });
const run = z.object({ error: problem.optional() });
const spec = z.object({
  title: z.string(),
  tests: z.array(z.object({ status: z.string(), results: z.array(run) })),
});
const suite = z.object({
  title: z.string(),
  specs: z.array(spec),
  get suites() {
    return z.array(suite).optional();
  },
});
const outcomes: Readonly<Record<string, Case['status']>> = {
  expected: 'passed',
  flaky: 'passed',
  unexpected: 'failed',
};
const specCases = ({ specs, suites = [] }: z.output<typeof suite>, above: string): Case[] => [
  ...specs.flatMap(({ title, tests: each }) =>
    each.map(({ status, results: runs }) => {
      const { message = '', location } = runs.at(-1)?.error ?? {};
      const plain = stripVTControlCharacters(message);
      return { name: above + title, status: outcomes[status] ?? 'skipped', message: plain, ...location };
    }),
  ),
  ...suites.flatMap((one) => specCases(one, `${above}${one.title} `)),
];
const playwrightReport = z.object({ suites: z.array(suite), errors: z.array(problem).default([]) });
/** Names without that of the file; what fails before the tests is a failure without one. */
const playwrightCases = json(playwrightReport, ({ suites, errors }) => [
  ...errors.map(({ message, location }): Case => ({
    name: location?.file ?? 'playwright',
    status: 'failed',
    message: stripVTControlCharacters(message),
    ...location,
  })),
  ...suites.flatMap((one) => specCases(one, '')),
]);

const settings = { NO_COLOR: '1', FORCE_COLOR: '0' };
const given = { only: ['cart adds'], files: ['test/cart.test.js'] };

export default [
  program('vitest', {
    title: 'Vitest',
    category: 'build',
    site: 'https://vitest.dev/guide/cli',
    get: { npm: 'vitest' },
    project: ['vitest.config.*', 'vitest.workspace.*', inPackage('vitest')],
    own: nodeBin('vitest'),
    settings: { NO_COLOR: '1' },
    actions: {
      test: action('Run Vitest tests', 'Runs tests once; failures with their places.', ['execute'], {
        role: 'test',
        run: ['run', '--reporter=json', glue('--outputFile=', fresh('report.json'))],
        params: {
          only: option('--testNamePattern=', names, exactly),
          update: update('--update'),
          changed: changed('--changed'),
          project: option('--project=', name('Only this project of a workspace')),
          files: operand(files),
        },
        given,
        dashes: false,
        ok: [0, 1],
        out: tests(jestCases),
      }),
    },
  }),
  program('jest', {
    title: 'Jest',
    category: 'build',
    site: 'https://jestjs.io/docs/cli',
    get: { npm: 'jest' },
    project: ['jest.config.*', inPackage('jest')],
    own: nodeBin('jest'),
    settings,
    actions: {
      test: action('Run Jest tests', 'Runs tests; failures with their places.', ['execute'], {
        role: 'test',
        run: ['--json', glue('--outputFile=', fresh('report.json'))],
        params: {
          only: option('--testNamePattern=', names, exactly),
          update: update('--updateSnapshot'),
          changed: changed('--onlyChanged'),
          files: option('--runTestsByPath', files),
        },
        given,
        ok: [0, 1],
        out: tests(jestCases),
      }),
    },
  }),
  program('mocha', {
    title: 'Mocha',
    category: 'build',
    site: 'https://mochajs.org/running/cli',
    get: { npm: 'mocha' },
    project: ['.mocharc.*', inPackage('mocha')],
    own: nodeBin('mocha'),
    settings,
    actions: {
      test: action('Run Mocha tests', 'Runs tests; failures with their places.', ['execute'], {
        role: 'test',
        run: ['--reporter=json', glue('--reporter-option=output=', fresh('report.json'))],
        params: { only: option('--grep=', names, exactly), files: operand(files) },
        given,
        dashes: false,
        // How many have failed.
        ok: Array.from({ length: 256 }, (_, code) => code),
        out: tests(mochaCases),
      }),
    },
  }),
  program('playwright', {
    title: 'Playwright',
    category: 'build',
    site: 'https://playwright.dev/docs/test-cli',
    get: { npm: '@playwright/test' },
    project: ['playwright.config.*', inPackage('@playwright/test')],
    own: nodeBin('playwright'),
    settings,
    actions: {
      test: action(
        'Run Playwright tests',
        'Runs tests in browsers; failures with their places.',
        ['execute', 'network'],
        {
          role: 'test',
          run: ['test', '--reporter=json'],
          params: {
            // It matches project, file and titles with blanks between them.
            only: option('--grep=', names, (all) => exactly(all).replace('^', ' ').replace(/\$$/, '(?: |$)')),
            project: option('--project=', name('Only this project: a browser')),
            update: update('--update-snapshots'),
            files: operand(files),
          },
          given,
          dashes: false,
          ok: [0, 1],
          out: tests(playwrightCases),
        },
      ),
      install: action(
        'Install browsers for Playwright',
        'Fetches browsers for tests.',
        ['write', 'network'],
        {
          run: ['install'],
          params: {
            browser: operand(z.enum(['chromium', 'firefox', 'webkit']).optional().describe('Only this one')),
          },
          given: { browser: 'chromium' },
        },
      ),
    },
  }),
];
