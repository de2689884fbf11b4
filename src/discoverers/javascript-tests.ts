import * as z from 'zod';
import {
  action,
  fresh,
  glue,
  list,
  name,
  on,
  operand,
  option,
  type Params,
  path,
  told,
} from '../core/grammar.ts';
import { tests, type TestCase } from './reports/kinds.ts';
import { filed, json, saidOr } from './reports/readers.ts';
import { junit } from './reports/xml.ts';
import { exactly, fetches, nodeTool, runs, testNames as names } from './shared/programs.ts';

const files = list(path('File'), 'Only these files');
const update = (words: string) => on(words, 'Write snapshots anew');

/** Without colours. */
const plain = (text: string): string => text.replaceAll(/\u001B\[[\d;]*m/g, '');
/** The message before a stack, and the place in the test file that it names. */
const failed = (stack: string, file: string) => {
  const message = stack.split(/\n\s+at /)[0];
  const [, line, column] = /^:(\d+):(\d+)/.exec(stack.split(file)[1] ?? '') ?? [];
  return { message, file, ...(line && { line: Number(line), column: Number(column) }) };
};

const assertion = z.object({
  fullName: z.string(),
  status: z.string(),
  failureMessages: z.array(z.string()).nullish(),
});
const jestFile = z.object({
  name: z.string(),
  message: z.string().default(''),
  assertionResults: z.array(assertion),
});
const jestReport = z.object({ testResults: z.array(jestFile) });
/** The JSON of Jest, which Vitest writes, too. A file that fails before its tests has none. */
const jestCases = filed((report) =>
  jestReport
    .parse(JSON.parse(report))
    .testResults.flatMap(({ name: file, message, assertionResults }): TestCase[] =>
      assertionResults.length === 0
        ? [{ name: file, status: 'failed', message: plain(message), file }]
        : assertionResults.map(({ fullName, status, failureMessages }) => ({
            name: fullName,
            status: status === 'passed' || status === 'failed' ? status : 'skipped',
            ...(failureMessages?.[0] && failed(plain(failureMessages[0]), file)),
          })),
    ),
);

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
const outcomes: Record<string, TestCase['status']> = {
  expected: 'passed',
  flaky: 'passed',
  unexpected: 'failed',
};
const specCases = ({ specs, suites = [] }: z.output<typeof suite>, above: string): TestCase[] => [
  ...specs.flatMap(({ title, tests: each }) =>
    each.map(({ status, results: runs }) => {
      const { message = '', location } = runs.at(-1)?.error ?? {};
      return {
        name: above + title,
        status: outcomes[status] ?? 'skipped',
        message: plain(message),
        ...location,
      };
    }),
  ),
  ...suites.flatMap((one) => specCases(one, `${above}${one.title} `)),
];
const playwrightReport = z.object({ suites: z.array(suite), errors: z.array(problem).default([]) });
/** Names without that of the file; what fails before the tests is a failure without one. */
const playwrightCases = json(playwrightReport, ({ suites, errors }) => [
  ...errors.map(({ message, location }): TestCase => ({
    name: location?.file ?? 'playwright',
    status: 'failed',
    message: plain(message),
    ...location,
  })),
  ...suites.flatMap((one) => specCases(one, '')),
]);

const browser = z.enum(['chromium', 'firefox', 'webkit']);
const given = { only: ['cart adds'], files: ['test/cart.test.js'] };
const testing = <const P extends Params>(title: string, spec: Parameters<typeof action<P>>[3]) => ({
  test: action<P>(`Run ${title} tests`, 'Runs tests once; failures with their places.', runs, {
    role: 'test',
    dashes: false,
    ok: [0, 1],
    ...spec,
  } as never),
});

export default [
  nodeTool('vitest', {
    title: 'Vitest',
    site: 'https://vitest.dev/guide/cli',
    project: ['vitest.config.*', 'vitest.workspace.*'],
    actions: testing('Vitest', {
      run: ['run', '--reporter=json', glue('--outputFile=', fresh('report.json'))],
      params: {
        only: option('--testNamePattern=', names, exactly),
        update: update('--update'),
        project: option('--project=', name('Only this project of a workspace')),
        files: operand(files),
      },
      given,
      out: tests(jestCases),
    }),
  }),
  nodeTool('jest', {
    title: 'Jest',
    site: 'https://jestjs.io/docs/cli',
    project: ['jest.config.*'],
    actions: testing('Jest', {
      run: ['--json', glue('--outputFile=', fresh('report.json'))],
      params: {
        only: option('--testNamePattern=', names, exactly),
        update: update('--updateSnapshot'),
        files: option('--runTestsByPath', files),
      },
      given,
      out: tests(jestCases),
    }),
  }),
  nodeTool('mocha', {
    title: 'Mocha',
    site: 'https://mochajs.org/running/cli',
    project: ['.mocharc.*'],
    actions: testing('Mocha', {
      run: ['--reporter=xunit', glue('--reporter-option=output=', fresh('report.xml'))],
      params: { only: option('--grep=', names, exactly), files: operand(files) },
      given,
      // How many have failed.
      ok: Array.from({ length: 256 }, (_, code) => code),
      out: tests(junit(({ of, name: title }) => `${of} ${title}`.trim())),
    }),
  }),
  nodeTool('playwright', {
    title: 'Playwright',
    site: 'https://playwright.dev/docs/test-cli',
    from: '@playwright/test',
    project: ['playwright.config.*'],
    actions: {
      ...testing('Playwright', {
        run: ['test', '--reporter=json'],
        params: {
          // It matches project, file and titles with blanks between them.
          only: option('--grep=', names, (all) => exactly(all).replace('^', ' ').replace(/\$$/, '(?: |$)')),
          project: option('--project=', name('Only this project: a browser')),
          update: update('--update-snapshots'),
          files: operand(files),
        },
        given,
        out: tests(playwrightCases),
      }),
      install: action('Install browsers for Playwright', 'Fetches browsers.', fetches, {
        run: ['install'],
        params: { browser: operand(browser.optional().describe('Only this one')) },
        given: { browser: 'chromium' },
        out: told(saidOr('it is installed')),
      }),
    },
  }),
];
