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
  '<groupId>shop</groupId><artifactId>shop</artifactId><version>1.0</version><properties>' +
  '<maven.compiler.source>11</maven.compiler.source><maven.compiler.target>11</maven.compiler.target>' +
  '</properties><dependencies><dependency><groupId>junit</groupId><artifactId>junit</artifactId>' +
  '<version>4.13.2</version><scope>test</scope></dependency></dependencies><build><plugins><plugin>' +
  '<artifactId>maven-clean-plugin</artifactId><version>3.2.0</version></plugin></plugins></build></project>';
/** Debian's own repository, which has what its packages brought. */
const offline = '-o\n-s/etc/maven/settings-debian.xml\n-Dmaven.repo.local=/usr/share/maven-repo\n';

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
    check: ['test', /1 failed[^]*fails/],
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
      ['clean', {}, /what was built is deleted|openjdk/],
    ],
  },
  {
    program: 'maven',
    check: ['test', /1 failed[^]*fails/],
    from: { apt: 'maven maven-debian-helper libmaven-dependency-plugin-java junit4' },
    files: {
      'pom.xml': pom,
      '.mvn/maven.config': offline,
      'src/main/java/shop/Cart.java': cart('a + b'),
      'src/test/java/shop/CartTest.java': test,
    },
    calls: [
      ['compile', {}, /^no diagnostics/],
      ['test', {}, /^1 failed, 1 passed, 0 skipped\n.*CartTest\.java:10 shop\.CartTest#fails - /],
      ['test', { only: ['shop.CartTest#adds'] }, /^0 failed, 1 passed/],
      ['package', { skip_tests: true }, /done|jar/],
      // A test fails, so nothing is put into the machine's repository.
      ['verify', {}, /CartTest\.fails/],
      ['install', {}, /CartTest\.fails/],
      ['dependency_tree', {}, /junit:junit:jar:4/],
      ['list', {}, /junit/],
      // This plugin is not among Debian's.
      ['outdated', {}, /PROGRAM_FAILED[^]*versions/],
      // Of what this one needs, Debian has another version.
      ['clean', {}, /what was built is deleted|maven-clean-plugin/],
      ['run_goal', { task: 'no-such-phase' }, /Unknown lifecycle phase/],
    ],
  },
] satisfies ProgramTrial[];
