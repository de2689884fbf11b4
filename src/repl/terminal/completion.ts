import { printable } from './printable.ts';
import { cells, padToCells } from './width.ts';

/**
 * Candidates for the text between `from` and the cursor. They may contain spaces; quoting them is up to who offers
 * them.
 */
export interface Completion {
  readonly from: number;
  readonly candidates: readonly string[];
}

export type Complete = (line: string, cursor: number) => Promise<Completion>;

/** Candidates that are listed; more are counted. */
const mostListed = 100;

/** What Tab does: type this in place of the text before the cursor, or list these on the second Tab. */
export function completed(
  typed: string,
  candidates: readonly string[],
): { insert?: string; list?: readonly string[] } {
  // A file name may hold escape sequences: the terminal must not get them, and without them it is another file.
  const shown = candidates.filter(
    (candidate) => printable(candidate) === candidate && !/[\n\t]/.test(candidate),
  );
  const [first] = shown;
  if (first === undefined) return {};
  if (shown.length === 1) return { insert: first };
  const start = commonStart(shown);
  return start.length > typed.length ? { insert: start } : { list: shown };
}

/** The longest text that all begin with; whole code points. */
function commonStart(candidates: readonly string[]): string {
  const [first = '', ...others] = candidates;
  let start = '';
  for (const character of first) {
    if (!others.every((other) => other.startsWith(start + character))) break;
    start += character;
  }
  return start;
}

/** The candidates in columns, as ls lists them. */
export function inColumns(candidates: readonly string[], width: number): string {
  const listed = candidates.slice(0, mostListed);
  const more = candidates.length > listed.length ? [`… and ${candidates.length - listed.length} more`] : [];
  const cell = Math.max(...listed.map(cells)) + 2;
  const rows = Math.ceil(listed.length / Math.max(1, Math.floor(width / cell)));
  const lines = Array.from({ length: rows }, (_, row) =>
    listed
      .filter((_, index) => index % rows === row)
      .map((candidate) => padToCells(candidate, cell))
      .join('')
      .trimEnd(),
  );
  return [...lines, ...more].join('\n');
}
