import { glue } from '../core/command-line.ts';
import { operand, words } from '../core/parameter.ts';
import { list, name } from '../core/params.ts';
import { action, program } from '../core/program.ts';
import { said } from './reports/diagnostics.ts';
import { diagnostics, tasks, tests } from './reports/kinds.ts';
import { lines } from './reports/readers.ts';
import { javaTests } from './shared/jvm.ts';

const effects = ['execute', 'network'] as const;
const only = operand(list(name('Test'), 'Only these classes: shop.CartTest'), (all) => all.join(' '));
const scala =
  /^\[(?<level>error|warn)\] (?<file>[^\s:]+\.\w+):(?<line>\d+):(?:(?<column>\d+):)? (?<message>.+)$/;

export default program('sbt', {
  title: 'sbt',
  category: 'build',
  site: 'https://www.scala-sbt.org/1.x/docs/Command-Line-Reference.html',
  get: { brew: 'sbt', winget: 'sbt.sbt', site: 'https://www.scala-sbt.org/download' },
  version: 'unknown',
  project: ['build.sbt'],
  environment: ['JAVA_HOME', 'SBT_HOME'],
  before: ['--batch', '-no-colors'],
  actions: {
    compile: action('Compile with sbt', 'Compiles code and tests; errors with places.', effects, {
      role: 'build',
      run: ['Test/compile'],
      ok: [0, 1],
      out: diagnostics(said(scala)),
    }),
    test: action('Run sbt tests', 'Runs the tests; failures with their places.', effects, {
      role: 'test',
      // One argument is one command of sbt.
      run: ({ only: some }) => [glue('testOnly', glue(' ', some))],
      params: { only },
      given: { only: ['shop.CartTest'] },
      ok: [0, 1],
      collects: ['**/target/**/test-reports/TEST-*.xml'],
      out: tests(javaTests('.')),
    }),
    run: action('Run the sbt project', 'Runs its main class.', effects, { run: ['run'] }),
    clean: action('Clean with sbt', 'Deletes what was built.', ['execute', 'write'], { run: ['clean'] }),
    tasks: action('List sbt tasks', 'Tasks of the build with what they do.', effects, {
      role: 'tasks',
      run: ['tasks'],
      out: tasks(
        lines(/^ {2}(?<task>\w+) {2,}(?<says>\S.*)$/, ({ task = '', says }) => ({ name: task, says })),
      ),
    }),
    run_task: action('Run an sbt task', 'Runs one task or command.', effects, {
      role: 'task',
      run: ({ task, args }) => [task, args],
      params: { task: operand(name('Task: Test/compile')), args: words('More tasks') },
      given: { task: 'assembly' },
    }),
  },
});
