import * as z from 'zod';
import { also } from '../core/accepted.ts';
import { ToolcribError } from '../core/errors.ts';
import { defineSimpleTool, type CallContext, type Tool, type Result } from '../core/tool.ts';
import type { Job } from '../machine/jobs/job.ts';
import { eachLine, type OutputLine, type StoredOutput } from '../machine/output-store/kept-output.ts';
import { searchLines } from '../machine/output-store/search-lines.ts';
import { headAndTail, inlineLimit } from '../machine/sanitize.ts';
import type { OwnServices } from '../server/own-tools.ts';
import { aboutJob, endedResult, inOneLine, lastLines, lastLinesOf, textResult } from './output/job-text.ts';
import { waitFor } from './output/wait-for.ts';

const mostLines = 2000;
const usualTail = 50;
/** Outputs that are listed, the latest. */
const mostListed = 20;
/** Room for the notes is kept free, so that the answer is never shortened a second time. */
export const mostCharacters = inlineLimit - 1000;

/** What hosts call the name of what runs in the background. */
export const handles = 'job job_id bash_id shell_id task_id output handle';

const params = z.strictObject({
  id: also(
    z.string().min(1).max(100).optional().describe('Job or output that an answer named: dev-1'),
    handles,
  ),
  wait_for: z
    .string()
    .min(1)
    .max(1000)
    .optional()
    .describe('First wait for: end, port 5173, or text of a line'),
  timeout: also(z.int().min(0).optional().describe('Seconds to wait at most'), 'seconds'),
  tail: z.int().min(1).max(mostLines).optional().describe('Only the last lines'),
  pattern: also(
    z.string().min(1).max(1000).optional().describe('Only lines that match a regex: error|warn'),
    'grep filter regex',
  ),
  context: z.int().min(0).max(20).default(0).describe('Lines around each match'),
  start_line: also(z.int().min(1).optional(), 'from_line offset'),
  end_line: z.int().min(1).optional(),
});

type ReadOutputParams = z.output<typeof params>;

/** What reading outputs, and waiting for jobs, needs. */
export type OutputServices = Pick<OwnServices, 'jobs' | 'outputs'>;

/** Jobs and what was printed: all of them in a line each; or one, waited for, by pages, from its end, or searched. */
export const readOutput = (services: OutputServices): Tool =>
  defineSimpleTool({
    name: 'read_output',
    program: 'toolcrib',
    title: 'Read output',
    description:
      'Reads what a job or long command printed, or waits for it; without id lists jobs and kept outputs.',
    effects: ['read'],
    params,
    call: (given, context) => answer(given, services, context),
  });

async function answer(
  given: ReadOutputParams,
  services: OutputServices,
  context: CallContext,
): Promise<Result> {
  const { id, tail, pattern, start_line, end_line, context: around, wait_for: awaited } = given;
  const selects = tail ?? pattern ?? start_line ?? end_line;
  if (id === undefined) {
    if ((selects ?? awaited) !== undefined) throw invalid('id', 'is required with the other parameters');
    return textResult(listing(services, context.client));
  }
  if (tail !== undefined && (pattern ?? start_line ?? end_line) !== undefined)
    throw invalid('tail', 'cannot be given with start_line, end_line or pattern');
  if (around > 0 && pattern === undefined) throw invalid('context', 'is given with pattern');
  const { client, signal } = context;
  const job = services.jobs.find(client, id);
  const stored = () => services.outputs.find(client, id);
  // Who asks for a handle that is none is told so before anything is waited for.
  const output = job ? undefined : stored();
  const happened =
    awaited === undefined ? '' : await waitFor(awaited, job ?? output, given, services, context);
  if (selects === undefined && job) return jobResult(job, happened, services);
  const text =
    tail === undefined ? await page(stored(), given, signal) : lastLines(stored(), tail, mostCharacters);
  return textResult(happened.replace(/; $/, ''), text);
}

function jobResult(job: Job, happened: string, { outputs }: OutputServices): Result {
  if (job.state !== 'running') return endedResult(job, happened);
  const printed = lastLinesOf(job, outputs, happened === '' ? usualTail : usualTail / 2);
  return textResult(`${happened}${aboutJob(job)}`, printed || '[nothing was printed yet]');
}

function listing({ jobs, outputs }: OutputServices, client: string): string {
  const known = jobs.list(client);
  const names = new Set(known.map(({ id }) => id));
  const others = outputs
    .list(client)
    .filter(({ handle }) => !names.has(handle))
    .slice(-mostListed)
    .map(({ handle, about, lineCount }) => `${handle}: ${counted(lineCount)} of ${inOneLine(about, 200)}`);
  const lines = [...known.map(aboutJob), ...others];
  return lines.length === 0 ? 'There are no jobs, and no output is kept.' : headAndTail(lines.join('\n'));
}

const counted = (count: number): string => `${count.toLocaleString('en')} ${count === 1 ? 'line' : 'lines'}`;

const invalid = (parameter: string, why: string): ToolcribError =>
  new ToolcribError('ARG_INVALID', `${parameter}: ${why}.`);

type LineSelection = Pick<ReadOutputParams, 'start_line' | 'end_line' | 'pattern' | 'context'>;

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
