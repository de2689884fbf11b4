import * as z from 'zod';
import {
  action,
  joined,
  list,
  name,
  operand,
  option,
  path,
  program,
  type Program,
  some,
  words,
} from '../core/grammar.ts';
import { diagnostics } from './reports/kinds.ts';
import { compilers, javaHome, jdk } from './shared/jvm.ts';
import { changes, reads, runs } from './shared/programs.ts';

const facts = (title: string, id: string): Omit<Program, 'id' | 'actions'> => ({
  title,
  category: 'runtime',
  site: `https://docs.oracle.com/en/java/javase/21/docs/specs/man/${id}.html`,
  get: jdk,
  own: javaHome(id),
  environment: ['JAVA_HOME'],
  version: { args: ['-version'], pattern: /(?:version "|javac )(\d[\w.+-]*)/ },
});
const classpath = option(
  '-cp',
  list(path('JAR or folder'), 'Where classes are'),
  joined(process.platform === 'win32' ? ';' : ':'),
);
const args = words('Arguments of the program');
const jar = operand(path('JAR', 'file'));

const java = program('java', {
  ...facts('Java', 'java'),
  project: ['*.java', 'pom.xml', 'build.gradle', 'build.gradle.kts'],
  actions: {
    version: action('Describe Java', 'Version and maker of the Java here.', reads, { run: ['-version'] }),
    run: action('Run a Java class', 'Runs the main method of a compiled class.', runs, {
      run: ({ classpath: from, main, args: rest }) => [from, main, rest],
      params: { classpath, main: operand(name('Class: shop.Main')), args },
      given: { classpath: ['target/classes'], main: 'shop.Main', args: ['a'] },
    }),
    run_jar: action('Run a Java archive', 'Runs a JAR that names its main class.', runs, {
      run: ({ jar: file, args: rest }) => ['-jar', file, rest],
      params: { jar, args },
      given: { jar: 'app.jar', args: ['a'] },
    }),
    run_file: action('Run a Java source file', 'Compiles one file in memory and runs it.', runs, {
      run: ({ classpath: from, file, args: rest }) => [from, file, rest],
      params: { classpath, file: operand(path('Source', 'file')), args },
      given: { file: 'Main.java' },
    }),
  },
});

const compiler = program('javac', {
  ...facts('Java compiler', 'javac'),
  category: 'build',
  project: ['*.java'],
  // A file of arguments begins with @.
  marks: '-@',
  actions: {
    version: action('Version of the Java compiler', 'Which javac this is.', reads, { run: ['-version'] }),
    // Annotation processors on the class path are run.
    compile: action('Compile Java', 'Compiles files; errors with their places.', changes, {
      role: 'build',
      run: ['-Xlint:all'],
      dashes: false,
      params: {
        classpath,
        folder: option('-d', path('Folder for classes', 'folder', { written: true })),
        release: option('--release', z.int().min(6).max(99).describe('Version of Java it is for')),
        only: operand(some(path('Source', 'file'), 'Sources')),
      },
      given: { folder: 'classes', only: ['src/shop/Main.java'] },
      ok: [0, 1],
      out: diagnostics(compilers),
    }),
  },
});

export default [java, compiler];
