import { ToolcribError } from '../../core/errors.ts';
import { eachLine, type OutputLine, type StoredOutput } from '../../machine/output-store/kept-output.ts';
import { searchLines } from '../../machine/output-store/search-lines.ts';
import { inlineLimit } from '../../machine/sanitize.ts';

export const mostLines = 2000;
/** Characters of a page; the rest of an answer is left for the notes, so that it is never shortened again. */
export const mostCharacters = inlineLimit - 1000;

/** Names that the tools of hosts have for the id of a background job. */
export const handleAliases = 'job job_id bash_id shell_id task_id output handle';

export const formatLineCount = (count: number): string =>
  `${count.toLocaleString('en')} ${count === 1 ? 'line' : 'lines'}`;

export const invalidParameter = (parameter: string, why: string): ToolcribError =>
  new ToolcribError('ARG_INVALID', `${parameter}: ${why}.`);

/** The lines of an output that a caller selects. */
interface LineSelection {
  readonly start_line?: number | undefined;
  readonly end_line?: number | undefined;
  readonly pattern?: string | undefined;
  /** Lines around each match. */
  readonly context: number;
}

/**
 * Formats lines of an output, as many as fit: one after another, or with their numbers those that match.
 * Throws ARG_INVALID for lines that do not exist.
 */
export async function readPage(
  output: StoredOutput,
  selection: LineSelection,
  signal: AbortSignal,
): Promise<string> {
  const { lineCount, endedAt } = output;
  const { start_line: from = 1, end_line: to = Infinity, pattern } = selection;
  refuseMissingLines(output, selection);
  const pieces: string[] = [];
  let [size, last] = [0, from - 1];
  let next: number | undefined;
  const lines = pattern === undefined ? allLines(output, from) : matchingLines(output, selection, signal);
  for await (const { line, mark } of lines) {
    if (line.number > to) break;
    const isMissing = line.kind === 'missing';
    const text = isMissing ? `[lines ${line.number}-${line.last} were not kept]` : line.text;
    const piece = pattern === undefined || isMissing ? text : `${line.number}${mark}${text}`;
    if (pieces.length >= mostLines || (pieces.length > 0 && size + piece.length > mostCharacters)) {
      next = line.number;
      break;
    }
    pieces.push(piece);
    size += piece.length + 1;
    last = isMissing ? line.last : line.number;
  }
  const isRunning = endedAt === undefined;
  const all = lineCount.toLocaleString('en');
  const describePage = (): string => {
    if (pattern !== undefined && next !== undefined) return `more match; next: start_line=${next}`;
    if (pattern !== undefined) return pieces.length === 0 ? `no line of ${all} matches` : '';
    if (lineCount === 0) return `nothing was printed${isRunning ? ' yet' : ''}`;
    if (from === 1 && last >= lineCount && !isRunning) return '';
    return `lines ${from}-${last} of ${all}${last < lineCount ? `; next: start_line=${last + 1}` : ''}`;
  };
  const note = describePage();
  if (note !== '') pieces.push(`[${note}${isRunning ? '; it goes on' : ''}]`);
  return pieces.join('\n');
}

function refuseMissingLines(
  { lineCount, endedAt }: StoredOutput,
  { start_line: from = 1, end_line: to = Infinity, pattern }: LineSelection,
): void {
  // While a program runs, the line behind the last one may be asked for: it is expected next.
  const isBehind = from > Math.max(1, lineCount) && (endedAt !== undefined || from > lineCount + 1);
  if (pattern === undefined && isBehind)
    throw invalidParameter('start_line', `there are ${formatLineCount(lineCount)}`);
  if (to < from) throw invalidParameter('end_line', 'is before start_line');
}

interface MarkedLine {
  readonly line: OutputLine;
  /** The sign behind the number, as grep writes it: a colon for a match, a dash for a line around it. */
  readonly mark: ':' | '-';
}

function* allLines(output: StoredOutput, from: number): Generator<MarkedLine> {
  for (const line of eachLine(output, from)) yield { line, mark: ':' };
}

/** The lines that match, with `context` lines around them. */
async function* matchingLines(
  output: StoredOutput,
  { start_line: from = 1, context, pattern = '' }: LineSelection,
  signal: AbortSignal,
): AsyncGenerator<MarkedLine> {
  const before: OutputLine[] = [];
  let after = 0;
  for await (const step of searchLines(output, { from, pattern, parameter: 'pattern', signal }))
    for (const [index, line] of step.lines.entries()) {
      const isMatch = step.matches[index] === true;
      if (line.kind === 'missing' || isMatch) {
        for (const earlier of before) yield { line: earlier, mark: '-' };
        before.length = 0;
        yield { line, mark: ':' };
        if (isMatch) after = context;
      } else if (after > 0) {
        after -= 1;
        yield { line, mark: '-' };
      } else if (context > 0) {
        before.push(line);
        if (before.length > context) before.shift();
      }
    }
}
