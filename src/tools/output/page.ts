import { ToolcribError } from '../../core/errors.ts';
import { eachLine, type OutputLine, type StoredOutput } from '../../machine/output-store/kept-output.ts';
import { searchLines } from '../../machine/output-store/search-lines.ts';
import { inlineLimit } from '../../machine/sanitize.ts';

export const mostLines = 2000;
/** Room for the notes is kept free, so that the answer is never shortened a second time. */
export const mostCharacters = inlineLimit - 1000;

/** The names that hosts have for the handle of what runs in the background. */
export const handles = 'job job_id bash_id shell_id task_id output handle';

export const counted = (count: number): string =>
  `${count.toLocaleString('en')} ${count === 1 ? 'line' : 'lines'}`;

export const invalid = (parameter: string, why: string): ToolcribError =>
  new ToolcribError('ARG_INVALID', `${parameter}: ${why}.`);

/** The lines that are wanted. */
interface LineSelection {
  readonly start_line?: number | undefined;
  readonly end_line?: number | undefined;
  readonly pattern?: string | undefined;
  /** Lines around each match. */
  readonly context: number;
}

/** Lines one after another until nothing more fits: as they are, or with their numbers those that match. */
export async function page(output: StoredOutput, given: LineSelection, signal: AbortSignal): Promise<string> {
  const { lineCount, endedAt } = output;
  const { start_line: from = 1, end_line: to = Infinity, pattern } = given;
  const all = lineCount.toLocaleString('en');
  if (
    pattern === undefined &&
    from > Math.max(1, lineCount) &&
    (endedAt !== undefined || from > lineCount + 1)
  )
    throw invalid('start_line', `there are ${counted(lineCount)}`);
  if (to < from) throw invalid('end_line', 'is before start_line');
  const pieces: string[] = [];
  let [size, last] = [0, from - 1];
  let next: number | undefined;
  for await (const { line, mark } of pattern === undefined
    ? plain(output, from)
    : matching(output, given, signal)) {
    if (line.number > to) break;
    const missing = line.kind === 'missing';
    const text = missing ? `[lines ${line.number}-${line.last} were not kept]` : line.text;
    const piece = pattern === undefined || missing ? text : `${line.number}${mark}${text}`;
    if (pieces.length >= mostLines || (pieces.length > 0 && size + piece.length > mostCharacters)) {
      next = line.number;
      break;
    }
    size += (pieces[pieces.push(piece) - 1]?.length ?? 0) + 1;
    last = missing ? line.last : line.number;
  }
  const goesOn = endedAt === undefined ? '; it goes on' : '';
  const isWhole = pattern === undefined && from === 1 && last >= lineCount && endedAt !== undefined;
  const note = () => {
    if (pattern !== undefined && next !== undefined) return `more match; next: start_line=${next}`;
    if (pattern !== undefined) return pieces.length === 0 ? `no line of ${all} matches` : '';
    if (lineCount === 0) return `nothing was printed${endedAt === undefined ? ' yet' : ''}`;
    if (isWhole) return '';
    return `lines ${from}-${last} of ${all}${last < lineCount ? `; next: start_line=${last + 1}` : ''}`;
  };
  const said = note();
  return [...pieces, ...(said === '' ? [] : [`[${said}${goesOn}]`])].join('\n');
}

interface Marked {
  readonly line: OutputLine;
  /** As grep writes it: a colon where it matches, a dash beside. */
  readonly mark: ':' | '-';
}

function* plain(output: StoredOutput, from: number): Generator<Marked> {
  for (const line of eachLine(output, from)) yield { line, mark: ':' };
}

/** The lines that match, with those around them. */
async function* matching(
  output: StoredOutput,
  { start_line: from = 1, context, pattern = '' }: LineSelection,
  signal: AbortSignal,
): AsyncGenerator<Marked> {
  const before: OutputLine[] = [];
  let after = 0;
  for await (const step of searchLines(output, { from, pattern, parameter: 'pattern', signal }))
    for (const [index, line] of step.lines.entries()) {
      const isMatch = step.matches[index] === true;
      if (line.kind === 'missing' || isMatch) {
        for (const earlier of before.splice(0)) yield { line: earlier, mark: '-' };
        yield { line, mark: ':' };
        after = isMatch ? context : after;
      } else if (after-- > 0) yield { line, mark: '-' };
      else if (context > 0 && before.push(line) > context) before.shift();
    }
}
