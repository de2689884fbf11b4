import type { Program } from '../../core/program.ts';
import type { Reader } from '../../core/report.ts';
import { gnu, said } from '../reports/diagnostics.ts';
import type { Case } from '../reports/kinds.ts';
import { junit } from '../reports/xml.ts';

/** A program of the Java that JAVA_HOME names. */
export const javaHome = (name: string): NonNullable<Program['own']> => ({
  posix: [`$JAVA_HOME/bin/${name}`],
  win32: [`$JAVA_HOME/bin/${name}.exe`],
});
export const jdk = { apt: 'default-jdk-headless', brew: 'openjdk', winget: 'EclipseAdoptium.Temurin.21.JDK' };

/** What each of the readers understands, said once; a build can hold several compilers. */
export const together =
  <T>(...readers: readonly Reader<T[]>[]): Reader<T[]> =>
  (output) => {
    const found = new Map<string, T>();
    let understood = false;
    for (const read of readers)
      try {
        for (const one of read(output)) found.set(JSON.stringify(one), one);
        understood = true;
      } catch {
        // The others may understand it.
      }
    if (!understood) throw new Error('no line was recognised');
    return [...found.values()];
  };

const kotlin = /^(?<level>[ew]): (?:file:\/\/)?(?<file>[^\s:]+):(?:\((?<line>\d+), (?<column>\d+)\):)? ?(?<message>.+)$/;
const kotlin2 = /^(?<level>[ew]): (?:file:\/\/)?(?<file>[^\s:]+):(?<line>\d+):(?<column>\d+):? (?<message>.+)$/;
const worded: Readonly<Record<string, 'error' | 'warning'>> = { e: 'error', w: 'warning' };
const ofKotlin = (pattern: RegExp): typeof gnu => (output) => said(pattern)(output);

export const compilers = together(gnu, ofKotlin(kotlin2), ofKotlin(kotlin));
void worded;

/** Results of JUnit and its kin. A case is called Class, the separator, and its method; parameters have no name there. */
export const javaTests = (separator: string): Reader<Case[]> => {
  const read = junit(({ of, name }) => `${of}${separator}${name.replace(/[([{].*$/, '').trim()}`);
  return (output) => {
    const texts = Object.values(output.files).join('\n');
    return read(output).map(({ file: _file, line: _line, ...one }) => ({ ...one, ...placeOf(one, texts, separator) }));
  };
};

/** The line of the test's own class that failed, where frameworks and the JDK have lines below and above it. */
function placeOf({ name, status }: Case, texts: string, separator: string) {
  const [of = '', method = ''] = name.split(separator);
  return { of, method, status, texts };
}
