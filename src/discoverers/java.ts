import * as z from 'zod';
import { operand, option, required, words } from '../core/parameter.ts';
import { joined, list, name, path, some } from '../core/params.ts';
import { action, program, type Program } from '../core/program.ts';
import { diagnostics, entries, processes } from './reports/kinds.ts';
import { lines } from './reports/readers.ts';
import { javac, javaHome, jdk } from './shared/jvm.ts';

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
const pid = operand(z.int().min(1).describe('Process, as jps_list says'));

const java = program('java', {
  ...facts('Java', 'java'),
  project: ['*.java', 'pom.xml', 'build.gradle', 'build.gradle.kts'],
  actions: {
    version: action('Describe Java', 'Version and maker of the Java here.', ['read'], { run: ['-version'] }),
    run: action('Run a Java class', 'Runs the main method of a compiled class.', ['execute'], {
      run: ({ classpath: from, main, args: rest }) => [from, main, rest],
      params: { classpath, main: operand(name('Class: shop.Main')), args },
      given: { classpath: ['target/classes'], main: 'shop.Main', args: ['a'] },
    }),
    run_jar: action('Run a Java archive', 'Runs a JAR that names its main class.', ['execute'], {
      run: ({ jar: file, args: rest }) => ['-jar', file, rest],
      params: { jar, args },
      given: { jar: 'app.jar', args: ['a'] },
    }),
    run_file: action('Run a Java source file', 'Compiles one file in memory and runs it.', ['execute'], {
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
    version: action('Version of the Java compiler', 'Which javac this is.', ['read'], { run: ['-version'] }),
    // Annotation processors on the class path are run.
    compile: action('Compile Java', 'Compiles files; errors with their places.', ['execute', 'write'], {
      role: 'build',
      run: ['-Xlint:all'],
      dashes: false,
      params: {
        classpath,
        folder: option('-d', path('Folder for classes', 'folder', { written: true })),
        release: option('--release', z.int().min(6).max(99).describe('Version of Java it is for')),
        files: operand(some(path('Source', 'file'), 'Files')),
      },
      given: { folder: 'classes', files: ['src/shop/Main.java'] },
      ok: [0, 1],
      out: diagnostics(javac),
    }),
  },
});

const archiver = program('jar', {
  ...facts('jar', 'jar'),
  version: { args: ['--version'], pattern: /jar (\d[\w.+-]*)/ },
  actions: {
    list: action('List a Java archive', 'Files in a JAR.', ['read'], {
      run: ['tf'],
      dashes: false,
      params: { jar },
      given: { jar: 'app.jar' },
      out: entries('file')(lines(/^(?<file>\S.*)$/, ({ file = '' }) => ({ name: file }))),
    }),
    create: action('Create a Java archive', 'Packs what a folder has into a JAR.', ['write'], {
      run: ({ path: file, main, folder }) => ['--create', file, main, '-C', folder, '.'],
      params: {
        path: required('--file=', path('New JAR', 'file', { written: true })),
        main: option('--main-class=', name('Class to start with')),
        folder: operand(path('Folder with classes', 'folder')),
      },
      given: { path: 'app.jar', main: 'shop.Main', folder: 'classes' },
    }),
  },
});

const watchers = [
  program('jps', {
    ...facts('jps', 'jps'),
    version: 'unknown',
    actions: {
      list: action('List Java processes', 'Java programs that run, by process.', ['read'], {
        run: ['-lm'],
        out: processes(
          lines(/^(?<id>\d+) ?(?<command>.*)$/, ({ id, command = '' }) => ({ pid: Number(id), command })),
        ),
      }),
    },
  }),
  program('jstack', {
    ...facts('jstack', 'jstack'),
    version: 'unknown',
    actions: {
      // It asks by a signal, which would end a process that is no Java.
      threads: action('Dump Java threads', 'What threads of a Java process do.', ['execute'], {
        run: ['-l'],
        dashes: false,
        params: { pid },
        given: { pid: 4711 },
      }),
    },
  }),
];

export default [java, compiler, archiver, ...watchers];
