import { action, list, name, on, operand, option, program, type Reader, text } from '../core/grammar.ts';
import { tests, type TestCase } from './reports/kinds.ts';
import { interpreter, pythonEnvironment, pythons } from './shared/python.ts';

const block = new RegExp(
  String.raw`^={70}\n(?:FAIL|ERROR): (?<test>\S+) \((?<of>[^)]*)\).*\n-{70}\n` +
    String.raw`(?<trace>[^]*?)\n(?=\n(?:={70}|-{70})\n)`,
  'gm',
);
const summary = /^Ran (?<ran>\d+) tests? in .*\n\n(?:OK|FAILED)(?: \((?<counts>.*)\))?/m;

/** Failures stand in blocks, with the trace; how many there are, at the end. */
const results: Reader<TestCase[]> = ({ stderr: said }) => {
  const stderr = said.replaceAll('\r\n', '\n');
  const { ran, counts = '' } = summary.exec(stderr)?.groups ?? {};
  if (ran === undefined) throw new Error('it says no numbers');
  const failures = [...stderr.matchAll(block)].map(({ groups = {} }): TestCase => {
    const { test = '', of = '', trace = '' } = groups;
    const place = [...trace.matchAll(/File "(?<file>[^"]+)", line (?<line>\d+)/g)].at(-1)?.groups;
    // Before Python 3.11 the name of the test is not part of what stands in brackets.
    const whole = of.endsWith(`.${test}`) || /^set(?:Up|tear)/i.test(test) ? of : `${of}.${test}`;
    return {
      name: whole.replace(/^unittest\.loader\._FailedTest\./, ''),
      status: 'failed',
      message: trace
        .split('\n')
        .filter((line) => /^\S/.test(line))
        .slice(1)
        .join('\n'),
      ...(place && { file: place['file'], line: Number(place['line']) }),
    };
  });
  const skipped = Number(/skipped=(\d+)/.exec(counts)?.[1] ?? 0);
  const passed = Math.max(0, Number(ran) - skipped - new Set(failures.map((one) => one.name)).size);
  const others = (status: TestCase['status'], many: number) =>
    Array.from({ length: many }, () => ({ name: '', status }));
  return [...failures, ...others('skipped', skipped), ...others('passed', passed)];
};
export default program('unittest', {
  title: 'unittest',
  category: 'build',
  site: 'https://docs.python.org/3/library/unittest.html',
  get: { apt: 'python3', brew: 'python', winget: 'Python.Python.3.13' },
  called: pythons.map((python) => `${python} -m unittest`),
  ...interpreter,
  version: 'unknown',
  project: ['test_*.py', 'tests.py'],
  environment: pythonEnvironment,
  actions: {
    test: action('Run tests with unittest', "Runs tests with Python's own unittest.", ['execute'], {
      role: 'test',
      run: [],
      dashes: false,
      params: {
        matching: option('-k', list(name('Part of a name'), 'Those whose names have one of these')),
        first: on('--failfast', 'Stop at the first failure'),
        only: operand(list(text('Test'), 'Only these: tests.test_a.TestCart.test_adds')),
      },
      given: { only: ['tests.test_cart.CartTest'] },
      ok: [0, 1],
      out: tests(results),
    }),
  },
});
