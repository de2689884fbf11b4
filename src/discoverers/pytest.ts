import { action, fresh, glue, list, on, operand, option, type Reader, text } from '../core/grammar.ts';
import { tests, type TestCase } from './reports/kinds.ts';
import { junit, type JunitCase } from './reports/xml.ts';
import { pythonTool } from './shared/python.ts';
import { runs } from './shared/programs.ts';

const only = operand(list(text('File, folder or test'), 'Only these: tests/test_a.py::test_adds'));

/** `tests/test_a.py::TestCart::test_adds`: in the report, classes follow the module. */
function nodeId({ file, of, name }: JunitCase): string {
  if (file === undefined || of === '') return file ?? name;
  const module = file.replace(/\.py$/, '').replaceAll(/[\\/]/g, '.');
  const classes = of.slice(module.length + 1).split('.');
  return [file, ...classes, name].filter(Boolean).join('::');
}

/** A file that could not be imported has its reason in the text alone. */
const results: Reader<TestCase[]> = (output) => {
  const reasons = Object.values(output.files).flatMap((report) =>
    [...report.matchAll(/<error message="collection failure">[^]*?^E +(.+?)(?:<|$)/gm)].map(
      (found) => found[1],
    ),
  );
  return junit(nodeId)(output).map((one) =>
    one.message === 'collection failure' ? { ...one, message: reasons.shift() ?? one.message } : one,
  );
};

export default pythonTool('pytest', {
  title: 'pytest',
  site: 'https://docs.pytest.org',
  get: { apt: 'python3-pytest' },
  project: [
    'pytest.ini',
    'conftest.py',
    { file: 'pyproject.toml', has: /^\[tool\.pytest|["']pytest\b/m },
    { file: 'setup.cfg', has: /^\[tool:pytest\]/m },
    { file: 'requirements.txt', has: /^pytest\b/m },
  ],
  hints: [{ says: /file or directory not found/, wayOut: 'pytest_collect lists the tests there are.' }],
  actions: {
    test: action('Run tests with pytest', 'Runs Python tests; failures with their places.', runs, {
      role: 'test',
      run: [
        // One file that cannot be imported says nothing about the others.
        ...['--quiet', '--no-header', '--color=no', '--continue-on-collection-errors'],
        // The older kind of report names the file of each test.
        ...['--override-ini=junit_family=xunit1', glue('--junit-xml=', fresh('report.xml'))],
      ],
      params: {
        matching: option('-k', text('Expression that names match: cart and not slow')),
        marked: option('-m', text('Expression of markers: not slow')),
        again: on('--last-failed', 'Those that failed last'),
        first: on('--exitfirst', 'Stop at the first failure'),
        only,
      },
      given: { only: ['tests/test_cart.py::test_adds'] },
      // 2: some could not be imported.
      ok: [0, 1, 2],
      out: tests(results),
    }),
    collect: action('List tests of pytest', 'Names of the tests; imports them.', runs, {
      run: ['--collect-only', '--quiet', '--color=no'],
      params: { only },
    }),
  },
});
