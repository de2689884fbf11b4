import type { ProgramTrial } from './types.ts';

const cart = (result: string) =>
  `package shop;\n\npublic class Cart {\n  public static int add(int a, int b) {\n    return ${result};\n  }\n\n` +
  '  public static void main(String[] args) {\n    System.out.println("sum " + add(1, 2) + String.join(",", args));\n  }\n}\n';
const test =
  'package shop;\n\nimport static org.junit.Assert.assertEquals;\n\nimport org.junit.Test;\n\npublic class CartTest {\n' +
  '  @Test public void adds() { assertEquals(3, Cart.add(1, 2)); }\n\n' +
  '  @Test public void fails() { assertEquals(4, Cart.add(1, 2)); }\n}\n';
const jdk = { apt: 'default-jdk-headless' };
const pom =
  '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>' +
  '<groupId>shop</groupId><artifactId>shop</artifactId><version>1.0</version></project>';

export default [
  {
    program: 'javac',
    from: jdk,
    files: { 'shop/Cart.java': cart('a + b'), 'Bad.java': cart('a + "x"').replace('package shop;', '') },
    calls: [
      ['version', {}, /javac \d/],
      ['compile', { folder: 'classes', only: ['shop/Cart.java'] }, /^no diagnostics/],
      ['compile', { folder: 'classes', only: ['Bad.java'] }, /Bad\.java:5 error: incompatible types/],
    ],
  },
  {
    program: 'java',
    from: jdk,
    files: { 'Cart.java': cart('a + b').replace('package shop;', '') },
    calls: [
      ['version', {}, /version "\d/],
      ['run_file', { file: 'Cart.java', args: ['-x'] }, /^sum 3-x/],
      ['run', { main: 'Cart' }, /ClassNotFoundException/],
      ['run_jar', { jar: 'no.jar' }, /Unable to access jarfile/],
    ],
  },
  {
    program: 'gradle',
    from: { apt: 'gradle' },
    files: {
      'build.gradle': `apply plugin: 'java'
dependencies { testCompile files('/usr/share/java/junit4.jar', '/usr/share/java/hamcrest-core.jar') }
task hello { group 'mine'; description 'Says hello'; doLast { println 'hi' } }
`,
      'src/main/java/shop/Cart.java': cart('a + b'),
      'src/test/java/shop/CartTest.java': test,
    },
    calls: [
      ['build', { offline: true }, /^no diagnostics/],
      ['test', {}, /^1 failed, 1 passed, 0 skipped\nshop\/CartTest\.java:10 shop\.CartTest\.fails - /],
      ['test', { only: ['shop.CartTest.adds'] }, /^0 failed, 1 passed/],
      ['tasks', {}, /hello \(Says hello\)/],
      ['run_task', { task: 'hello' }, /^hi/m],
      ['run_tasks', { tasks: ['clean', 'hello'] }, /^hi/m],
      ['clean', {}, /done|openjdk/],
    ],
  },
  {
    program: 'maven',
    from: { apt: 'maven' },
    files: { 'pom.xml': pom, 'src/main/java/shop/Cart.java': cart('a + b') },
    calls: [
      ['compile', { offline: true }, /diagnostic|PROGRAM_FAILED/],
      ['clean', { offline: true }, /done|PROGRAM_FAILED/],
      ['run_goal', { task: 'no-such-phase' }, /Unknown lifecycle phase/],
    ],
  },
] satisfies ProgramTrial[];
