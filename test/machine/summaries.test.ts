import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import type { AnyAction } from '../../src/core/discoverer.ts';
import { actionResult, failureOf } from '../../src/machine/action-result.ts';
import { collect, type Collected } from '../../src/machine/output.ts';
import type { Outcome } from '../../src/machine/process.ts';
import { summarise, tellSummary } from '../../src/machine/summaries/summarise.ts';
import { textOf } from '../filesystem/folder.ts';

const recorded = (name: string) => readFileSync(new URL(`recorded/reports/${name}`, import.meta.url), 'utf8');
/** Short reports are shown as they are: filled up with what changes nothing. */
const long = (text: string, filler = '\n') => text + filler.repeat(Math.max(0, 2001 - text.length));
const told = async (text: string, isWhole = true) => {
  const summary = await summarise(text, isWhole);
  return summary && tellSummary(summary, 8000);
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
  const startedAt = performance.now();
  const shown = await told(text);
  expect(performance.now() - startedAt).toBeLessThan(5000);
  expect(shown?.length ?? 0).toBeLessThan(9000);
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
