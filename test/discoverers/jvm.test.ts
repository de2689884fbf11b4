import { expect, it } from 'vitest';
import { programOf } from './programs.ts';
import { argvOf, recorded, reportOf } from './real-program.ts';

const shown = (id: string, action: string, output: Parameters<typeof reportOf>[2]) =>
  reportOf(programOf(id), action, output).text;

it.each([
  ['gradle', 'a.CartTest.fails', 'java.lang.AssertionError: expected:<4> but was:<3>'],
  ['maven', 'a.CartTest#fails', 'expected: <4> but was: <3>'],
])('%s: places a failure in the test, and names it as only takes it', (id, name, message) => {
  const files = { 'TEST-a.CartTest.xml': recorded(`${id}/TEST-a.CartTest.xml`) };
  expect(shown(id, 'test', { files, exitCode: 1 })).toBe(
    `1 failed, 1 passed, 0 skipped\na/CartTest.java:6 ${name} - ${message}`,
  );
  expect(argvOf(programOf(id), 'test', { only: [name] }).join(' ')).toContain(name);
  expect(() => shown(id, 'test', { stdout: 'BUILD FAILED', exitCode: 1 })).toThrow();
});

it('names a test without the values it was given', () => {
  const report = `<testsuite><testcase classname="a.B" name="many(int)[1]"><failure message="no">x</failure></testcase>
    <testcase classname="a.B" name="[2] 5"><failure message="no">x</failure></testcase></testsuite>`;
  const files = { 'TEST-a.B.xml': report };
  expect(shown('maven', 'test', { files, exitCode: 1 }).split('\n').slice(1)).toEqual([
    'a.B#many - no',
    'a.B - no',
  ]);
});

it('reads what compilers say, once', () => {
  expect(shown('javac', 'compile', { stderr: recorded('javac/errors.txt'), exitCode: 1 })).toBe(
    `4 diagnostics
/home/dev/W.java:2 warning: found raw type: List [rawtypes]
/home/dev/W.java:2 warning: found raw type: ArrayList [rawtypes]
/home/dev/W.java:2 error: incompatible types: String cannot be converted to int
/home/dev/W.java:2 warning: Date(int,int,int) in Date has been deprecated [deprecation]`,
  );
  expect(shown('maven', 'compile', { stdout: recorded('maven/compile-error.txt'), exitCode: 1 })).toBe(
    '1 diagnostic\n/home/dev/shop/src/main/java/a/Cart.java:2:68 error: ' +
      'incompatible types: java.lang.String cannot be converted to int',
  );
  const kotlin = "e: file:///home/dev/a.kt:3:5 Unresolved reference 'x'.\nw: /home/dev/b.kt: (1, 2): Old\n";
  expect(shown('gradle', 'build', { stderr: kotlin, exitCode: 1 })).toBe(
    "2 diagnostics\n/home/dev/a.kt:3:5 error: Unresolved reference 'x'.\n/home/dev/b.kt:1:2 warning: Old",
  );
  expect(() => shown('gradle', 'build', { stderr: 'FAILURE: Build failed', exitCode: 1 })).toThrow();
});

it('reads what Maven depends on', () => {
  const tree = { stdout: recorded('maven/tree.txt') };
  expect(shown('maven', 'list', tree)).toBe(
    '2 packages\njunit:junit 4.13.2 (test)\ncommons-io:commons-io 2.11.0 (compile)',
  );
  expect(shown('maven', 'dependency_tree', tree)).toMatch(
    /^a:cart:jar:1\.0\n\+- junit[^]*commons-io:jar:2\.11\.0:compile$/,
  );
  const outdated =
    '[INFO] The following dependencies in Dependencies have newer versions:\n' +
    '[INFO]   junit:junit ......................................... 4.12 -> 4.13.2\n' +
    '[INFO]   org.apache.logging.log4j:log4j-to-slf4j-and-more ...\n[INFO]                      2.17.0 -> 2.25.1\n';
  expect(shown('maven', 'outdated', { stdout: outdated })).toBe(
    '2 packages\njunit:junit 4.12 -> 4.13.2\norg.apache.logging.log4j:log4j-to-slf4j-and-more 2.17.0 -> 2.25.1',
  );
});

it('refuses what would be two in a list that is one argument', () => {
  expect(() => argvOf(programOf('maven'), 'test', { only: ['a.B,c.D'] })).toThrow(/read as two/);
  expect(() => argvOf(programOf('java'), 'run', { main: 'A', classpath: ['a:/etc'] })).toThrow(/read as two/);
});
