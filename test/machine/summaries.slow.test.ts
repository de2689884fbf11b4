import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import type { AnyAction } from '../../src/core/discoverer.ts';
import { actionResult, failureOf } from '../../src/machine/actions/action-result.ts';
import { collect, type Collected } from '../../src/machine/output.ts';
import type { Outcome } from '../../src/machine/processes/process.ts';
import { summarise, tellSummary } from '../../src/machine/summaries/summarise.ts';
import { textOf } from '../filesystem/folder.ts';
import { processorMs } from '../support/processor-ms.ts';

const recorded = (name: string) => readFileSync(new URL(`recorded/reports/${name}`, import.meta.url), 'utf8');
/** Short reports are shown as they are: filled up with what changes nothing. */
const long = (text: string, filler = '\n') => text + filler.repeat(Math.max(0, 2001 - text.length));
const told = async (text: string, isWhole = true) => {
  const summary = await summarise(text, isWhole);
  return typeof summary === 'object' ? tellSummary(summary, 8000) : summary;
};

it("understands what Node's test runner prints: leaves are counted, parents are not failures of their own", async () => {
  expect(await told(recorded('node-test.tap'))).toBe(
    [
      'TAP: 3 passed, 3 failed, 1 skipped, 1 todo',
      '✗ is wrong (/home/dev/app/a.test.mjs:4:1)',
      '    2 == 3',
      '    expected: 3',
      '    actual: 2',
      '    at TestContext.<anonymous> (file:///home/dev/app/a.test.mjs:4:31)',
      '✗ a suite › fails inside (/home/dev/app/a.test.mjs:7:3)',
      '    Expected values to be loosely deep-equal:',
      '',
      '    {',
      '      a: 1',
      '    }',
      '',
      '    should loosely deep-equal',
      '',
      '    {',
      '      a: 2',
      '    }',
      '    at TestContext.<anonymous> (file:///home/dev/app/a.test.mjs:7:35)',
      '✗ with subtests › second # odd name (/home/dev/app/a.test.mjs:13:11)',
      '    boom',
      '    second line',
      '    at TestContext.<anonymous> (file:///home/dev/app/a.test.mjs:13:51)',
    ].join('\n'),
  );
});

it('understands it when npm says before what it runs', async () => {
  const before = '\n> app@1.0.0 test\n> node --test\n\n';
  expect(await told(before + recorded('node-test.tap'))).toMatch(/^TAP: 3 passed, 3 failed/);
});

it('counts as the runner did when a part of the report is missing', async () => {
  const text = recorded('node-test.tap');
  const gap = text.slice(0, 600) + text.slice(2000);
  expect(await told(gap, false)).toMatch(
    /^TAP: 3 passed, 4 failed, 1 skipped, 1 todo\nthe middle of the report was not looked at\n✗ is wrong/,
  );
});

it("understands Perl's TAP, its plan at the end and its comments", async () => {
  expect(await told(long(recorded('perl.tap')))).toBe(
    'TAP: 2 passed, 2 failed, 1 skipped, 1 todo\n✗ sums\n✗ inner › in two',
  );
  const commented = long(
    "1..3\nok 1\nnot ok 2 - sums\n#   Failed test 'sums'\n#   at t/a.t line 3.\nBail out! no more\n",
  );
  expect(await told(commented)).toBe(
    "TAP: 1 passed, 1 failed\nBail out! no more\nplanned were 3 tests, and 2 came\n✗ sums (t/a.t:3)\n    Failed test 'sums'\n    at t/a.t line 3.",
  );
});

it("understands vitest's JUnit", async () => {
  const text = await told(long(recorded('vitest-junit.xml')));
  expect(text).toMatch(
    /^JUnit: 1 passed, 2 failed, 1 skipped\n✗ sum\.test\.ts › is <wrong> & "odd"\n {4}AssertionError/,
  );
  expect(text).toContain(
    '✗ sum.test.ts › a suite > throws\n    Error: boom ]]> now\n     ❯ sum.test.ts:4:89',
  );
});

it("understands vitest's and jest's JSON, without the frames of the runner", async () => {
  expect(await told(recorded('vitest.json'))).toBe(
    [
      'Tests: 1 passed, 2 failed, 1 skipped',
      '✗ is <wrong> & "odd" (/home/dev/app/sum.test.ts)',
      '    AssertionError: expected 2 to be 3 // Object.is equality',
      '        at /home/dev/app/sum.test.ts:3:46',
      '✗ a suite throws (/home/dev/app/sum.test.ts)',
      '    Error: boom ]]> now',
      '        at /home/dev/app/sum.test.ts:4:89',
    ].join('\n'),
  );
});

it('understands SARIF', async () => {
  expect(await told(long(recorded('sample.sarif')))).toBe(
    "SARIF (ESLint): 1 errors, 0 warnings\n✗ error: no-unused-vars (file:///C:/dev/sarif/sarif-tutorials/samples/Introduction/simple-example.js:1)\n    'x' is assigned a value but never used.",
  );
});

it("understands eslint's JSON", async () => {
  const report = [
    {
      filePath: '/a.js',
      errorCount: 1,
      warningCount: 0,
      messages: [{ ruleId: 'eqeqeq', severity: 2, message: 'Expected ===.', line: 7 }],
    },
  ];
  expect(await told(long(JSON.stringify(report)))).toBe(
    'ESLint: 1 errors, 0 warnings\n✗ error: eqeqeq (/a.js:7)\n    Expected ===.',
  );
});

it.each([
  ['a log', 'building\nok then\n'],
  ['prose that begins with ok', 'ok, let us see\nnot ok at all\n'],
  ['an echoed version far below', `${'line\n'.repeat(100)}TAP version 13\nok 1\n`],
  ['other XML', '<project><testsuites/></project>'],
  ['damaged XML', '<testsuites><testsuite><testcase name="a"></testsuites>'],
  ['XML with entities', '<!DOCTYPE x [<!ENTITY a "b">]><testsuites><testsuite/></testsuites>'],
  [
    'XML with entities after its root',
    '<testsuites><!DOCTYPE x [<!ENTITY a "b">]><testsuite>&a;</testsuite></testsuites>',
  ],
  ['other JSON', '{"version":"2.1.0","runs":"none"}'],
  ['JSON cut off', '{"version":"2.1.0","runs":['],
  ['JSON with text after it', '{"version":"2.1.0","runs":[]} done'],
])('leaves %s as it is', async (_, text) => {
  expect(await summarise(long(text), true)).toBeUndefined();
});

it.each([
  ['lines that begin like TAP', `ok 1 of 3 hosts reachable\n${'data: 7\n'.repeat(300)}`],
  ['the same with a plan', `1..1\nok 1 of 3 hosts reachable\n${'data: 7\n'.repeat(300)}`],
  ['a list of what is ok', 'ok 1 host\nok 2 hosts\n'.repeat(200)],
])('leaves %s as they are', async (_, text) => {
  expect(await summarise(text, true)).toBeUndefined();
});

it("tells a parent's own failure, and that of a hook, beside those of its subtests", async () => {
  expect(await told(long(recorded('node-parents.tap')))).toBe(
    [
      'TAP: 4 passed, 4 failed',
      '✗ a parent (/home/dev/app/parents.test.mjs:3:1)',
      '    PARENT BROKEN',
      '    at TestContext.<anonymous> (file:///home/dev/app/parents.test.mjs:3:102)',
      '✗ a suite (/home/dev/app/parents.test.mjs:4:1)',
      '    AFTER BROKEN',
      '    at SuiteContext.<anonymous> (file:///home/dev/app/parents.test.mjs:4:49)',
      '✗ another › bad (/home/dev/app/parents.test.mjs:5:78)',
      '    BAD CHILD',
      '    at TestContext.<anonymous> (file:///home/dev/app/parents.test.mjs:5:102)',
      '✗ another (/home/dev/app/parents.test.mjs:5:1)',
      '    AFTER BOTH',
      '    at SuiteContext.<anonymous> (file:///home/dev/app/parents.test.mjs:5:49)',
    ].join('\n'),
  );
});

it("understands vitest's TAP, in which the tests of a file follow it", async () => {
  const file = (name: string, tests: string) => `not ok 1 - ${name} # time=1.50ms {\n${tests}}\n`;
  const report = [
    'TAP version 13\n1..3\n',
    file('hook.test.js', '    ok 1 - fine # time=0.10ms\n'),
    file(
      'bad.test.js',
      '    not ok 1 - suite # time=2.00ms {\n        not ok 1 - bad # time=0.10ms\n    }\n',
    ),
    file('cut.test.js', '    ok 1 - fine # time=0.10ms\n').slice(0, -2),
  ];
  expect(await told(long(report.join('')))).toBe(
    'TAP: 2 passed, 3 failed\n✗ hook.test.js\n✗ bad.test.js › suite › bad\n✗ cut.test.js',
  );
});

it.each([
  ['lines between its own', 'TAP version 13\nok 1\nall data\n1..1\n', 'lines that are no TAP: 1'],
  ['totals of its own', 'TAP version 13\nok 1\n1..1\n# tests 2\n# pass 1\n# fail 1\n', '1 passed, 1 failed'],
])('doubts TAP with %s', async (_, text, doubt) => {
  expect(await told(long(text))).toMatch(new RegExp(`^TAP: 1 passed, 0 failed\n.*${doubt}`));
});

it("tells what failed outside of the tests in vitest's and jest's JSON", async () => {
  const bad = { fullName: 'bad', status: 'failed', failureMessages: ['wrong'] };
  const fine = { fullName: 'fine', status: 'passed' };
  const file = (name: string, message: string, ...assertionResults: unknown[]) => ({
    name,
    status: 'failed',
    message,
    assertionResults,
  });
  const report = (...testResults: unknown[]) => ({
    numTotalTests: 3,
    numPassedTests: 2,
    numFailedTests: 3,
    numPendingTests: 0,
    success: false,
    testResults,
  });
  const text = await told(
    long(
      JSON.stringify(
        report(
          file('/vitest-hook', 'HOOK ONE', fine),
          file('/vitest-both', 'HOOK TWO', bad),
          file('/vitest-inner', '', fine),
          file('/jest-both', '  ● Test suite failed to run\n\n    HOOK THREE\n\n  ● bad\n\n    wrong', bad),
          file('/jest-bad', '  ● bad\n\n    wrong', bad),
        ),
      ),
    ),
  );
  expect(text).toMatch(/^Tests: 2 passed, 3 failed, 4 files failed outside of their tests\n✗/);
  for (const told of ['HOOK ONE', 'HOOK TWO', 'HOOK THREE', '✗ /vitest-inner\n    outside of its tests'])
    expect(text).toContain(told);
  expect(text).not.toContain('✗ /jest-bad\n');
  const other = JSON.stringify(report(file('/none', '')));
  expect(await told(long(other))).toContain('its own totals say otherwise: 2 passed, 3 failed');
});

it('tells what failed in a suite of JUnit, and doubts one whose totals say more', async () => {
  const suite = (inner: string, said = '') =>
    long(
      `<testsuites><testsuite name="all" ${said}><testcase name="fine"/>${inner}</testsuite></testsuites>`,
    );
  expect(await told(suite('<error message="SETUP BROKEN"/>'))).toBe(
    'JUnit: 1 passed, 1 failed\n✗ all\n    SETUP BROKEN',
  );
  expect(await told(suite('', 'failures="2" errors="1"'))).toBe(
    'JUnit: 1 passed, 0 failed\nits own totals say otherwise: 3 failed',
  );
  expect(await told(suite('<testcase name="off" status="disabled"/>'))).toBe(
    'JUnit: 1 passed, 0 failed, 1 skipped',
  );
});

it("tells a SARIF tool's own errors, and only what it found wrong", async () => {
  const report = (run: object) =>
    told(
      long(
        JSON.stringify({
          version: '2.1.0',
          runs: [
            {
              tool: {
                driver: { name: 'x', rules: [{ id: 'strict', defaultConfiguration: { level: 'error' } }] },
              },
              ...run,
            },
          ],
        }),
      ),
    );
  const toolExecutionNotifications = [
    { level: 'error', descriptor: { id: 'E1' }, message: { text: 'CRASHED' } },
    { level: 'note', message: { text: 'a file was read' } },
  ];
  const invocations = [{ executionSuccessful: false, toolExecutionNotifications }];
  expect(await report({ invocations, results: [] })).toBe(
    'SARIF (x): 0 errors, 0 warnings, 1 errors of the tool itself\nx says that it did not run well\n✗ error of x: E1\n    CRASHED',
  );
  expect(await report({})).toContain('x says nothing of what it found');
  const message = { text: 'said' };
  const results = [
    ...['pass', 'notApplicable', 'informational'].map((kind) => ({ kind, ruleId: kind, message })),
    { ruleId: 'strict', message },
    { ruleId: 'seen', message, suppressions: [{ kind: 'inSource' }] },
    { ruleId: 'gone', message, baselineState: 'absent' },
    { kind: 'review', ruleId: 'unsure', message },
  ];
  expect(await report({ results })).toBe(
    'SARIF (x): 1 errors, 0 warnings, 1 notes, 1 suppressed\n✗ error: strict\n    said\n✗ review: unsure\n    said',
  );
});

it('shows what is short as it is', async () => {
  expect(await summarise(recorded('perl.tap'), true)).toBeUndefined();
});

it.each([
  ['TAP with blocks without end', `TAP version 13\n${'not ok 1 - x\n  ---\n  a: b\n'.repeat(200_000)}`],
  [
    'TAP that nests without end',
    `TAP version 13\n${Array.from({ length: 3000 }, (_, at) => `${' '.repeat(at)}not ok`).join('\n')}`,
  ],
  [
    'TAP with huge numbers',
    `TAP version 13\n${'not ok 99999999999999999999\n1..99999999999\n# tests 99999999999999\n'.repeat(50_000)}`,
  ],
  ['TAP in one line', `TAP version 13\nnot ok 1 ${'# skip '.repeat(700_000)}`],
  [
    'YAML that refers to itself',
    `TAP version 13\nnot ok 1\n  ---\n${'  a: &a [*a, *a]\n'.repeat(100_000)}  ...\n`,
  ],
  [
    'XML that nests without end',
    `<testsuites>${'<testsuite>'.repeat(90_000)}${'</testsuite>'.repeat(90_000)}</testsuites>`,
  ],
  ['XML with comments without end', `<testsuites>${'<!--'.repeat(400_000)}`],
  ['XML of a hundred megabytes', `<testsuites>${' '.repeat(100_000_000)}`],
  ['JSON that nests without end', `{"runs":${'['.repeat(1_000_000)}`],
  ['JSON with prototypes', `{"__proto__":{"version":"2.1.0","runs":[]},"runs":[${'1,'.repeat(1000)}1]}`],
])('takes neither long nor much of: %s', async (_, text) => {
  const startedAt = process.cpuUsage();
  const shown = await told(text);
  expect(processorMs(startedAt)).toBeLessThan(10_000);
  expect(shown?.length ?? 0).toBeLessThan(9000);
});

it.each([
  ['JSON of empty objects', `{"errorCount":1,"a":[${'{},'.repeat(1_300_000)}{}]}`],
  ['JSON of numbers', `{"runs":[${'1,'.repeat(2_000_000)}1]}`],
  ['JSON that nests', `{"runs":[${'['.repeat(500_000)}${']'.repeat(500_000)}]}`],
  ['JSON of names', `{"runs":[],${Array.from({ length: 300_000 }, (_, at) => `"${at}":1`).join(',')}}`],
  [
    'SARIF',
    `{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"x"}},"results":[${'{"message":{}},'.repeat(40_000)}{}]}]}`,
  ],
  ['JUnit of tests', `<testsuites>${'<testcase/>'.repeat(150_000)}</testsuites>`],
  ['JUnit with text', `<testsuites>${'text '.repeat(400_000)}</testsuites>`],
  ['TAP', `TAP version 13\n${'ok\n'.repeat(2_000_000)}`],
])('lets everything else go on during megabytes of: %s', async (_, text) => {
  let longest = 0;
  let last = process.cpuUsage();
  const beat = () => {
    longest = Math.max(longest, processorMs(last));
    last = process.cpuUsage();
  };
  const timer = setInterval(beat, 1);
  await summarise(text, true);
  beat();
  clearInterval(timer);
  // Much more than it takes, and much less than it took.
  expect(longest).toBeLessThan(600);
});

it('says of a report that it is too large for a summary, and shows its ends', async () => {
  const large = `{"numTotalTests":1,"testResults":[${'{},'.repeat(200_000)}{}]} the end`;
  for (const result of [
    await actionResult(plain, large, telling, ran(0, large)),
    (await failureOf(ran(1, large), {}, undefined, telling))!,
  ]) {
    expect(textOf(result)).toContain('"numTotalTests"');
    expect(textOf(result)).toMatch(/the end\n\[a report that is too large for a summary\]\n\[a note\]$/);
  }
});

const printed = (text: string, keep = 1024 * 1024): Collected => {
  const collector = collect(keep);
  collector.add(Buffer.from(text));
  return collector.finish();
};
const ran = (exitCode: number, stdout: string, stderr = '', keep?: number): Outcome => ({
  command: 'npm test',
  exitCode,
  stdout: printed(stdout, keep),
  stderr: printed(stderr, keep),
  durationMs: 1,
  ended: 'exited',
});
const telling = { notes: ['a note'], handle: 'abc' };
const plain = {} as AnyAction;
const way = 'read_output output=abc has all of it';

it('tells a summary in the place of a report, with the end of what was complained about, and where all of it is', async () => {
  const outcome = ran(1, recorded('node-test.tap'), `${'noise\n'.repeat(2000)}the last word\n`);
  const result = await failureOf(outcome, {}, undefined, telling);
  const text = textOf(result!);
  expect(text).toMatch(/^PROGRAM_FAILED: exit code 1 from: npm test\nTAP: 3 passed, 3 failed/);
  expect(text).toMatch(
    new RegExp(
      `\\[stderr\\]\n\\[… .* left out here …\\]\n[^]*the last word\n\\[a summary; ${way}\\]\n\\[a note\\]$`,
    ),
  );
  expect(result).toMatchObject({ isError: true, meta: { 'toolcrib/output': 'abc' } });
});

it('says why a program failed all the tests of which passed', async () => {
  const passing = `TAP version 13\n${'ok 1 - fine\n'.repeat(300)}1..300\nERROR: Coverage for lines (50%) is too low\n`;
  const text = textOf((await failureOf(ran(1, passing), {}, undefined, telling))!);
  expect(text).toContain('TAP: 300 passed, 0 failed');
  expect(text).toContain('ERROR: Coverage for lines (50%) is too low');
});

it('says that a failed program reported no failure, with the end of all that it said', async () => {
  const passing = `TAP version 13\n${'ok 1 - fine\n'.repeat(300)}1..300\n# the end`;
  const text = textOf((await failureOf(ran(1, passing, 'a warning'), {}, undefined, telling))!);
  expect(text).toContain('TAP: 300 passed, 0 failed\n[the report counts no failure: what went wrong is not');
  expect(text).toMatch(/\[stderr\]\na warning\n\[stdout\]\n[^]*# the end\n/);
});

it('shows the end of a report that contradicts itself, also when the program ended well', async () => {
  const report = `TAP version 13\n${'ok 1 - fine\n'.repeat(300)}1..300\n# fail 3\nDATA`;
  for (const result of [
    await actionResult(plain, report, telling, ran(0, report)),
    (await failureOf(ran(1, report), {}, undefined, telling))!,
  ]) {
    expect(textOf(result)).toContain('its own totals say otherwise: 0 passed, 3 failed');
    expect(textOf(result)).toMatch(/\[stdout\]\n[^]*DATA\n/);
  }
});

it.each([
  [
    'stderr',
    ran(2, '', `${'x'.repeat(20_000)}why`),
    /left out here; read_output output=abc has all of it\]\nx+why\n\[a note\]$/,
  ],
  [
    'stdout without it',
    ran(2, `${'x'.repeat(20_000)}why`),
    /\[stdout\]\nx+\n\[… 12,003 characters left out here; read_output output=abc has all of it\]\nx+why\n/,
  ],
  [
    'what was kept of more',
    ran(2, '', `${'x'.repeat(20_000)}why`, 1000),
    /^PROGRAM.*\n\[… 19,003 characters left out here; read_/,
  ],
])('a failure with nothing parsed carries the tail of %s', async (_, outcome, expected) => {
  expect(textOf((await failureOf(outcome, {}, undefined, telling))!)).toMatch(expected);
});

it('names no handle when everything was shown', async () => {
  for (const result of [
    await actionResult(plain, 'all fine', telling, ran(0, 'all fine', 'a warning')),
    (await failureOf(ran(1, 'out', 'err'), {}, undefined, telling))!,
  ]) {
    expect(JSON.stringify(result)).not.toContain('abc');
    expect(textOf(result)).toContain('[a note]');
  }
});

it('names the handle where text was cut, lists were shortened, or the output was not shown', async () => {
  const text = await actionResult(plain, 'x'.repeat(17_000), telling, ran(0, 'x'.repeat(17_000)));
  expect(textOf(text)).toContain(`\n[… 1,000 characters left out here; ${way}]\n`);
  expect(text.meta).toEqual({ 'toolcrib/output': 'abc' });
  const many = {
    parse: () => ({ items: Array.from({ length: 5000 }, (_, at) => `item ${at}`) }),
  } as unknown as AnyAction;
  const cut = await actionResult(many, '', telling);
  expect(cut.data).toMatchObject({
    notes: ['a note', `shortened; ${way}`],
    omitted: { items: expect.any(Number) },
  });
  const long = { parse: () => ({ text: 'x'.repeat(5000) }) } as unknown as AnyAction;
  expect((await actionResult(long, '', telling)).data).toMatchObject({
    notes: ['a note', `shortened; ${way}`],
  });
  const parsed = { parse: () => ({}) } as unknown as AnyAction;
  expect((await actionResult(parsed, '', telling)).data).toEqual({ notes: ['a note'] });
  const failed = (await failureOf(ran(1, 'data', 'why'), { parse: () => ({}) }, undefined, telling))!;
  expect(textOf(failed)).toBe(
    `PROGRAM_FAILED: exit code 1 from: npm test\nwhy\n[stdout was left out; ${way}]\n[a note]`,
  );
});
