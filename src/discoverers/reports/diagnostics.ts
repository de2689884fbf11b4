import { level } from './kinds.ts';
import { lines, type Groups } from './readers.ts';

const told = ({ file, line, column, level: said, code, message = '' }: Groups) => ({
  level: level(said ?? 'error'),
  message,
  ...(code && { code }),
  ...(file && { file: file.replace(/^\.[\\/]/, '') }),
  ...(line && { line: Number(line) }),
  ...(column && { column: Number(column) }),
});

// Patterns with names are long, and cannot be broken.
const gnuPlace = /(?:[A-Za-z]:)?[^\s:][^:]*/.source;
const gnuLevel = /(?:(?<level>fatal error|error|warning|note|info|Error|Warning)(?: \w+)?: ?)?/.source;

/**
 * `file:line:column: error: message [code]`, as most compilers of the Unix world say it; column and level may be
 * missing.
 */
export const gnu = lines(
  new RegExp(
    `^(?:vet: )?(?<file>${gnuPlace}):(?<line>\\d+):(?:(?<column>\\d+):)? ?${gnuLevel}` +
      `(?<message>.+?)(?: +\\[(?<code>[\\w-]+)\\])?$`,
  ),
  (found) => (found['level'] === 'note' ? undefined : told(found)), // A note belongs to the line above it.
  'both',
);

/** `file(line,column): error CODE: message [project]`, as Microsoft's compilers say it. */
export const microsoft = lines(
  new RegExp(
    '^\\s*(?:(?<file>[^()\\n]+)\\((?<line>\\d+)(?:,(?<column>\\d+))?[^)]*\\)|\\w+) ?: ' +
      '(?<level>error|warning) (?<code>[A-Z]+\\d+): (?<message>.+?)(?: \\[[^\\]]+\\])?$',
  ),
  told,
  'both',
);

/** `[ERROR] file:[line,column] message`, as Maven says it. */
export const bracketed = lines(
  /^\[(?<level>ERROR|WARNING)\] (?<file>\S+):\[(?<line>\d+),(?<column>\d+)\] (?<message>.+)$/,
  told,
  'both',
);

/** `place: message` by a pattern of the program's own, with the groups file, line, column, level, code, message. */
export const said = (pattern: RegExp) => lines(pattern, told, 'both');
