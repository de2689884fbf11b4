import {
  action,
  joined,
  list,
  name,
  on,
  operand,
  option,
  program,
  type Reader,
  told,
} from '../core/grammar.ts';
import { said, together } from './reports/diagnostics.ts';
import { diagnostics, packages, tests } from './reports/kinds.ts';
import { lines, saidOr } from './reports/readers.ts';
import { javaTests } from './shared/jvm.ts';
import { reaches, wrapper } from './shared/programs.ts';
import { knownTasks, taskWords } from './shared/tasks.ts';

const common = {
  modules: option('--projects=', list(name('Module'), 'Only these modules'), joined(',')),
  also: on('--also-make', 'Also modules that those need'),
  offline: on('--offline', 'Without the network'),
};
const skip = { ...common, skip_tests: on('-DskipTests', 'Run no tests') };
const phase = (title: string, says: string, phases: readonly string[], params: typeof common = common) =>
  action(title, says, reaches, { run: ['--quiet', ...phases], params });

/** Phases, and goals of plugins that look, check or build. */
const ofGoals = knownTasks(
  new RegExp(
    '^(?:validate|initialize|(?:generate|process)-(?:test-)?(?:sources|resources)|(?:process-)?(?:test-)?' +
      '(?:compile|classes)|(?:prepare-|integration-|pre-integration-|post-integration-)?' +
      '(?:test|package)|verify|install|pre-clean|clean|post-clean|pre-site|site|post-site' +
      '|(?:help|dependency|enforcer|surefire|failsafe|compiler|resources|jar|war|checkstyle|pmd|spotbugs' +
      '|spotless|formatter|jacoco|javadoc|source|license):[\\w-]+' +
      '|versions:display-[\\w-]+|spring-boot:run|quarkus:dev)$',
  ),
);
const goalWords = taskWords(
  new RegExp(
    '^(?:[A-Za-z:][\\w:,./-]*|-P[\\w.,!-]+|-(?:q|e|X|o|U|am|amd|ff|fae|fn|nsu|T[\\w.]+)|-pl' +
      '|-D(?:[\\w.-]*[Ss]kip[\\w.-]*|test|it\\.test|groups|excludedGroups|includes|excludes|verbose|output' +
      '|artifact|detail|plugin|goal|scope|revision|changelist|spring-boot\\.run\\.profiles)(?:=[^]*)?)$',
  ),
  'a goal, a profile (-Pname) or a property that starts nothing (-DskipTests, -Dtest=Name)',
  'More goals, or options: -DskipTests',
);

const direct = lines(
  /^\[INFO\] [+\\]- (?<name>[^:\s]+:[^:\s]+):(?:[^:\s]+:){1,2}(?<version>[^:\s]+):(?<group>\w+)/,
  ({ name: of = '', version, group }) => ({ name: of, version, group }),
);
const tree: Reader<string> = ({ stdout }) => {
  const found = [...stdout.matchAll(/^\[INFO\] ([|+\\ -]*[^\s:]+:[^\s:]+:[^\s:]+:\S.*)$/gm)].map(
    ([, line]) => line,
  );
  if (found.length === 0) throw new Error('no tree');
  return found.join('\n');
};
// A long name has its versions on the next line.
const outdated: Reader<{ name: string; version: string; latest: string }[]> = ({ stdout }) => {
  const all = stdout.replaceAll(/\.\.\.\n\[INFO\] +/g, '... ');
  if (!/ -> /.test(all) && !/No dependencies in/.test(all)) throw new Error('no list');
  return [...all.matchAll(/^\[INFO\] +([\w.-]+:[\w.-]+) \.+ *(\S+) -> (\S+)/gm)].map(
    ([, of = '', version = '', latest = '']) => ({ name: of, version, latest }),
  );
};

const bracketed = said(
  /^\[(?<level>ERROR|WARNING)\] (?<file>\S+):\[(?<line>\d+),(?<column>\d+)\] (?<message>.+)$/,
);

export default program('maven', {
  title: 'Maven',
  category: 'build',
  site: 'https://maven.apache.org',
  get: { apt: 'maven', brew: 'maven', site: 'https://maven.apache.org/install' },
  called: ['mvn'],
  // The plugin exec runs what it is given.
  everyday: /^(?!.*:exec)/,
  version: { args: ['--version'], pattern: /Apache Maven (\d\S*)/ },
  project: ['pom.xml', 'mvnw'],
  own: wrapper('mvnw', 'mvnw.cmd'),
  environment: ['JAVA_HOME'],
  before: ['--batch-mode', '--no-transfer-progress', '-Dstyle.color=never'],
  hints: [
    {
      says: /Could not resolve|Could not transfer/,
      wayOut: 'Its repositories cannot be reached, or lack it.',
    },
  ],
  actions: {
    compile: action('Compile with Maven', 'Compiles code and tests; errors with places.', reaches, {
      role: 'build',
      run: ['test-compile'],
      params: common,
      ok: [0, 1],
      out: diagnostics(together(bracketed)),
    }),
    test: action('Run Maven tests', 'Runs the tests; failures with their places.', reaches, {
      role: 'test',
      run: ['--quiet', '--fail-at-end', 'test', '-Dsurefire.failIfNoSpecifiedTests=false'],
      params: {
        only: option('-Dtest=', list(name('Test'), 'Only these: CartTest, shop.CartTest#adds'), joined(',')),
        ...common,
      },
      given: { only: ['shop.CartTest#adds'] },
      ok: [0, 1],
      steps: { reports: ['**/target/surefire-reports/TEST-*.xml'] },
      out: tests(javaTests('#')),
    }),
    package: phase('Package with Maven', 'Tests, and packs into target.', ['package'], skip),
    verify: phase('Verify with Maven', 'Packs, and runs integration tests.', ['verify'], skip),
    install: phase(
      'Install with Maven',
      'Packs into the local repository, for other projects.',
      ['install'],
      skip,
    ),
    clean: {
      ...phase('Clean with Maven', 'Deletes what was built.', ['clean']),
      out: told(saidOr('what was built is deleted')),
    },
    dependency_tree: action('List Maven dependencies', 'The tree of dependencies with versions.', reaches, {
      run: ['dependency:tree'],
      params: common,
      out: told(tree),
    }),
    list: action('List direct Maven dependencies', 'Direct dependencies with versions.', reaches, {
      role: 'list',
      run: ['dependency:tree'],
      params: common,
      out: packages(direct),
    }),
    outdated: action('List outdated Maven dependencies', 'Dependencies with newer versions.', reaches, {
      role: 'outdated',
      run: ['versions:display-dependency-updates'],
      params: common,
      out: packages(outdated),
    }),
    run_goal: action('Run a Maven goal', 'Runs a phase, or a goal of a plugin.', reaches, {
      role: 'task',
      run: ({ task, args }) => [task, args],
      params: { task: operand(name('Phase or goal')), args: goalWords },
      moreEffects: ({ task, args }) => ofGoals(task, args),
      given: { task: 'help:effective-pom' },
    }),
  },
});
