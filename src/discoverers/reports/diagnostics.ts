import type { Reader } from '../../core/grammar.ts';
import { level } from './kinds.ts';
import { lines, type PatternGroups } from './readers.ts';

type Diagnostic = ReturnType<typeof told>;

const told = ({ file, line, column, level: said, code, message = '' }: PatternGroups) => ({
  level: level(said ?? 'error'),
  message,
  ...(code && { code }),
  ...(file && { file: file.replace(/^\.[\\/]/, '') }),
  ...(line && { line: Number(line) }),
  ...(column && { column: Number(column) }),
});

// A date with a time is no place.
const gnuPlace = /(?![[(]?[-\d\sT]+:)(?:[A-Za-z]:)?[^\s:][^:]*/.source;
const gnuLevel = /(?:(?<level>fatal error|error|warning|note|info|Error|Warning)(?: \w+)?: ?)?/.source;

/**
 * `file:line:column: error: message [code]`, as most compilers of the Unix world say it; column and level may
 * be missing.
 */
export const gnu = lines(
  new RegExp(
    `^(?:vet: )?(?<file>${gnuPlace}):(?<line>\\d+):(?:(?<column>\\d+):)? ?${gnuLevel}` +
      `(?<message>.+?)(?: +\\[(?<code>[\\w.,=-]+)\\])?$`,
  ),
  (found) => (found['level'] === 'note' ? undefined : told(found)), // A note belongs to the line above it.
  'both',
);

/** `file(line,column): error CODE: message [project]`, as Microsoft's compilers say it. */
export const microsoft = lines(
  new RegExp(
    '^\\s*(?:\\d+>)?(?:(?<file>[^()\\n]+)\\((?<line>\\d+)(?:,(?<column>\\d+))?[^)]*\\)|\\w+) ?: ' +
      '(?<level>error|warning) (?<code>[A-Z]+\\d+): (?<message>.+?)(?: \\[[^\\]]+\\])?$',
  ),
  told,
  'both',
);

/**
 * `place: message` by a pattern of the program's own, with the groups file, line, column, level, code,
 * message.
 * `clean` is what it says when there is nothing.
 */
export const said = (pattern: RegExp, clean?: RegExp): Reader<Diagnostic[]> => {
  const read = lines(pattern, told, 'both');
  return (output) => read({ ...output, stdout: clean ? output.stdout.replace(clean, '') : output.stdout });
};

/** The same of text that goes over several lines, by a pattern with the flags `gm`. */
export const saidAtLength =
  (pattern: RegExp): Reader<Diagnostic[]> =>
  ({ stdout, stderr, exitCode }) => {
    const found = [...`${stdout}\n${stderr}`.matchAll(pattern)].map(({ groups = {} }) => told(groups));
    if (found.length === 0 && exitCode !== 0) throw new Error('nothing was recognised');
    return found.map((one) => ({ ...one, message: one.message.trim().replaceAll(/\s*\n\s*/g, ' ') }));
  };

// Some builds have them whatever they are told.
const colours = /\u001B\[[\d;]*[mK]/g;

/** A failure without an error among what was found has another reason, which is shown. */
export const withReason =
  (read: Reader<Diagnostic[]>): Reader<Diagnostic[]> =>
  (output) => {
    const found = read({ ...output, exitCode: 0 });
    if (output.exitCode !== 0 && !found.some((one) => one.level === 'error'))
      throw new Error('it failed for a reason that was not recognised');
    return found;
  };

/**
 * Everything that any of the readers finds, each once, among all else that a build says; its exit code tells
 * how it went.
 */
export const together = (...readers: readonly Reader<Diagnostic[]>[]): Reader<Diagnostic[]> =>
  withReason((output) => {
    const stderr = `${output.stdout}\n${output.stderr}`.replaceAll(colours, '');
    const found = readers.flatMap((read) => read({ ...output, stdout: '', stderr }));
    return [...new Map(found.map((one) => [JSON.stringify(one), one])).values()];
  });

const linked = /(?<file>[^\s:]+)(?::\(\.\w+\+0x[\da-f]+\))?/.source;
const cmakePlace = /(?:at|in) (?<file>[^\s:]+)(?::(?<line>\d+))?/.source;
/** Diagnostics of the compilers and linkers of C, C++ and their kin say, whoever runs them. */
export const compiled = together(
  gnu,
  microsoft,
  said(
    new RegExp(`^(?:\\S*\\bld\\S*: )?${linked}: (?<message>(?:undefined reference|multiple definition) .+)`),
  ),
  said(/^\S*\bld\S*: (?<message>(?:cannot find|undefined symbol|library not found|error:) .+)/),
  saidAtLength(
    new RegExp(
      `^CMake (?<level>Error|Warning)(?: \\(dev\\))? ${cmakePlace}.*:\\n(?<message>(?: .+\\n)+)`,
      'gm',
    ),
  ),
);
