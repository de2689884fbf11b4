import { choice, on, operand, option, words } from '../core/parameter.ts';
import { list, name, text } from '../core/params.ts';
import { action, program } from '../core/program.ts';
import type { Reader } from '../core/report.ts';
import { compiled, said, together } from './reports/diagnostics.ts';
import { diagnostics, tasks, tests, type Case } from './reports/kinds.ts';
import { lines } from './reports/readers.ts';

const label = name('Label: //pkg:target, //pkg/...');
const only = operand(list(label, 'Only these').default(['//...']));
const config = {
  mode: choice(
    { usual: [], debug: '--compilation_mode=dbg', release: '--compilation_mode=opt' },
    'How it is compiled',
  ),
  config: option('--config=', list(name('Config of .bazelrc'), 'Configs')),
};
const built = together(
  compiled,
  said(/^ERROR: (?<file>\/.+?):(?<line>\d+):(?<column>\d+): (?<message>.+)/),
  said(/^(?<level>ERROR): (?!\/|Build did NOT)(?<message>.+)/),
);

const states: Readonly<Record<string, Case['status']>> = {
  PASSED: 'passed',
  FLAKY: 'passed',
  SKIPPED: 'skipped',
};
/** A line for each, and what those that failed have printed above. */
const cases: Reader<Case[]> = ({ stdout, stderr }) => {
  const all = `${stdout}\n${stderr}`;
  const found = all.matchAll(
    /^(@?\S*\/\/\S+) +(?:\(cached\) )?(PASSED|FLAKY|SKIPPED|FAILED(?: TO BUILD)?|TIMEOUT|NO STATUS)\b.*$/gm,
  );
  return [...found].map(([line, target = '', state = '']) => {
    const log = all.split(`Test output for ${target}:\n`)[1]?.split('\n====')[0];
    return { name: target, status: states[state] ?? 'failed', message: log ?? line.slice(target.length) };
  });
};

export default program('bazel', {
  title: 'Bazel',
  category: 'build',
  site: 'https://bazel.build/docs/user-manual',
  get: { brew: 'bazelisk', winget: 'Bazel.Bazelisk', npm: '@bazel/bazelisk' },
  called: ['bazel', 'bazelisk'],
  project: ['MODULE.bazel', 'WORKSPACE', 'WORKSPACE.bazel'],
  hints: [{ says: /no such (?:package|target)/, wayOut: 'bazel_targets lists the targets there are.' }],
  actions: {
    build: action('Build with Bazel', 'Builds targets; errors with their places.', ['execute', 'network'], {
      role: 'build',
      run: ['build', '--noshow_progress', '--color=no'],
      params: { ...config, keep_going: on('--keep_going', 'Go on after failures'), only },
      given: { only: ['//app:all'] },
      ok: [0, 1],
      out: diagnostics(built),
    }),
    test: action('Run Bazel tests', 'Runs tests; what failing ones printed.', ['execute', 'network'], {
      role: 'test',
      run: ['test', '--noshow_progress', '--color=no', '--test_output=errors'],
      params: { ...config, filter: option('--test_filter=', text('Cases inside of them')), only },
      given: { only: ['//cart:cart_test'] },
      ok: [0, 1, 3],
      out: tests(cases),
    }),
    run: action('Run a Bazel target', 'Builds and runs a program.', ['execute', 'network'], {
      run: ['run', '--noshow_progress', '--color=no'],
      params: { ...config, target: operand(label), args: words('Arguments of the program') },
      given: { target: '//app', args: ['--help'] },
    }),
    targets: action('List Bazel targets', 'Targets that a query finds.', ['execute', 'network'], {
      role: 'tasks',
      run: ['query', '--output=label_kind', '--noshow_progress', '--color=no'],
      params: { query: operand(text('deps(//app), rdeps(//..., //lib)').default('//...')) },
      out: tasks(
        lines(/^(?<says>.+) (?<name>\S+)$/, ({ name: target = '', says }) => ({ name: target, says })),
      ),
    }),
  },
});
