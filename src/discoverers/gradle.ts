import { action, list, name, on, operand, option, program, some, told } from '../core/grammar.ts';
import { diagnostics, tasks, tests } from './reports/kinds.ts';
import { lines, saidOr } from './reports/readers.ts';
import { compilers, javaTests } from './shared/jvm.ts';
import { changes, reaches, wrapper } from './shared/programs.ts';
import { knownTasks, taskWords } from './shared/tasks.ts';

const offline = on('--offline', 'Without the network');

/** Tasks that look, check, build or run: of any project of the build, with the names of their parts. */
const ofGradleTasks = knownTasks(
  new RegExp(
    '^:?(?:[\\w.-]+:)*(?:clean|compile|process|assemble|build|bundle|check|test|lint|ktlint|detekt' +
      '|spotless|checkstyle|pmd|spotbugs|jacoco|kover|jar|war|shadowJar|boot|classes|java[Dd]oc|kdoc' +
      '|dokka|format|run|help|tasks|dependencies|dependencyInsight|projects|properties|generate' +
      '|wrapper|install[A-Z]\\w*Dist' +
      '|integration[Tt]est|connected\\w*Test)\\w*$',
  ),
);
const taskOptions = taskWords(
  new RegExp(
    '^(?:[A-Za-z:][\\w:.*-]*|-[xiqsSm]|-P(?!org\\.gradle)[\\w.]+(?:=[^]*)?' +
      '|--(?:info|debug|stacktrace|full-stacktrace|warn|quiet|offline|continue|dry-run|rerun-tasks' +
      '|rerun|refresh-dependencies|no-daemon|parallel|no-parallel|build-cache|no-build-cache|tests|args' +
      '|exclude-task|configuration|dependency' +
      '|fail-fast|warning-mode)(?:=[^]*)?)$',
  ),
  'a task, a property (-Pname=value) or an option that starts nothing (--info, --tests=Name)',
  'More tasks, or options: --info',
);

export default program('gradle', {
  title: 'Gradle',
  category: 'build',
  site: 'https://docs.gradle.org',
  get: { apt: 'gradle', brew: 'gradle', winget: 'Gradle.Gradle', site: 'https://gradle.org/install' },
  // `Gradle 8.5`; what its Java says of itself may come first.
  version: { args: ['--version'], pattern: /Gradle (\d\S*)/, caches: ['GRADLE_USER_HOME'] },
  project: ['gradlew', 'build.gradle', 'build.gradle.kts', 'settings.gradle', 'settings.gradle.kts'],
  own: wrapper('gradlew', 'gradlew.bat'),
  environment: ['JAVA_HOME', 'GRADLE_USER_HOME'],
  before: ['--console=plain', '--quiet'],
  hints: [{ says: /Task '.*' not found/, wayOut: 'gradle_tasks lists the tasks there are.' }],
  actions: {
    build: action('Build with Gradle', 'Compiles code and tests, and packs; runs no tests.', reaches, {
      role: 'build',
      run: ['assemble', 'testClasses'],
      params: { offline },
      ok: [0, 1],
      out: diagnostics(compilers),
    }),
    test: action('Run Gradle tests', 'Runs the tests; failures with their places.', reaches, {
      role: 'test',
      // What is up to date would write no report.
      run: ['--continue', 'cleanTest', 'test'],
      params: {
        only: option('--tests', list(name('Test'), 'Only these: CartTest, shop.CartTest.adds')),
        offline,
      },
      given: { only: ['shop.CartTest.adds'] },
      ok: [0, 1],
      steps: { reports: ['**/build/test-results/**/TEST-*.xml'] },
      out: tests(javaTests('.')),
    }),
    clean: action('Clean with Gradle', 'Deletes what was built.', changes, {
      run: ['clean'],
      out: told(saidOr('what was built is deleted')),
    }),
    tasks: action('List Gradle tasks', 'Tasks of the build with what they do.', reaches, {
      role: 'tasks',
      run: ['tasks', '--all'],
      out: tasks(
        lines(/^(?<task>[A-Za-z][\w:.-]*) - (?<says>.+)$/, ({ task = '', says }) => ({ name: task, says })),
      ),
    }),
    run_task: action('Run a Gradle task', 'Runs one task of the build.', reaches, {
      role: 'task',
      run: ({ task, args }) => [task, args],
      params: { task: operand(name('Task')), args: taskOptions },
      moreEffects: ({ task, args }) => ofGradleTasks(task, args),
      given: { task: 'javadoc' },
    }),
    run_tasks: action('Run Gradle tasks', 'Runs several tasks in one build.', reaches, {
      run: [],
      dashes: false,
      params: { offline, tasks: operand(some(name('Task'), 'Tasks')) },
      moreEffects: ({ tasks: all }) => ofGradleTasks(all),
      given: { tasks: ['clean', 'check'] },
    }),
  },
});
