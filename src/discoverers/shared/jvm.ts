import type { Program, Reader } from '../../core/grammar.ts';
import { said, together } from '../reports/diagnostics.ts';
import type { TestCase } from '../reports/kinds.ts';
import { lines } from '../reports/readers.ts';
import { junit } from '../reports/xml.ts';

/** A program of the Java that JAVA_HOME names. */
export const javaHome = (name: string): NonNullable<Program['own']> => ({
  posix: [`$JAVA_HOME/bin/${name}`],
  win32: [`$JAVA_HOME/bin/${name}.exe`],
});
export const jdk: Program['get'] = {
  apt: 'default-jdk-headless',
  brew: 'openjdk',
  winget: 'EclipseAdoptium.Temurin.21.JDK',
};

/** `e: file:///a.kt:3:5 message`, as Gradle and Maven tell what Kotlin says. */
const kotlin = lines(
  new RegExp(
    String.raw`^(?<level>[ew]): (?:file:\/\/)?(?<file>[^\s:]+): ?\(?(?<line>\d+)[:,] ?` +
      String.raw`(?<column>\d+)\)?:? (?<message>.+)$`,
  ),
  ({ level, file, line, column, message = '' }) => ({
    level: level === 'e' ? ('error' as const) : ('warning' as const),
    message,
    ...(file && { file, line: Number(line), column: Number(column) }),
  }),
  'both',
);
/** `Cart.java:2: warning: [rawtypes] message` */
export const javac = said(
  /^(?<file>[^\n]+?\.java):(?<line>\d+): (?<level>error|warning): (?:\[(?<code>[\w-]+)\] )?(?<message>.+)$/,
);
export const compilers = together(javac, kotlin);

/**
 * Test cases of Java and its kin: JUnit and its kin say a case's class, and its method with the values it was
 * given.
 */
export const javaTests = (separator: string): Reader<TestCase[]> => {
  const read = junit(({ of, name }) => {
    const method = name.replace(/[([{].*$/s, '').trim();
    return method === '' ? of : `${of}${separator}${method}`;
  });
  return (output) =>
    read(output).map((one) => {
      // A trace has no folders; they are those of the package.
      const type = one.name.replace(separator === '#' ? /#.*/ : /\.\w+$/, '');
      const folders = type.split('.').slice(0, -1);
      return { ...one, ...(one.file && { file: [...folders, one.file].join('/') }) };
    });
};
