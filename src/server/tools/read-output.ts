import * as z from 'zod';
import { also } from '../../core/accepted.ts';
import { ToolcribError } from '../../core/errors.ts';
import { defineSimpleTool, type CallContext, type Tool, type ToolResult } from '../../core/tool.ts';
import type { Job } from '../../machine/jobs/job.ts';
import type { Jobs } from '../../machine/jobs/jobs.ts';
import type { OutputLine, StoredOutput } from '../../machine/output-store/kept-output.ts';
import type { OutputStore } from '../../machine/output-store/output-store.ts';
import { searchLines } from '../../machine/output-store/search-lines.ts';
import { headAndTail, inlineLimit } from '../../machine/presentable.ts';
import { aboutJob, endedResult, inOneLine, lastLines, lastLinesOf, textResult } from './job-text.ts';
import { waitFor } from './wait-for.ts';

const mostLines = 2000;
const usualTail = 50;
/** Outputs that are listed, the latest. */
const mostListed = 20;
/** Room for the notes is kept free, so that the answer is never shortened a second time. */
const mostCharacters = inlineLimit - 800;

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

type Given = z.output<typeof params>;

/** What reading outputs, and waiting for jobs, needs. */
export interface OutputServices {
  readonly jobs: Pick<Jobs, 'list' | 'find'>;
  readonly outputs: Pick<OutputStore, 'list' | 'find'>;
}

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

async function answer(given: Given, services: OutputServices, context: CallContext): Promise<ToolResult> {
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
  if (selects !== undefined) {
    const page = new Page(stored());
    if (pattern !== undefined) await page.search(given, pattern, signal);
    else if (tail === undefined) page.fill(given);
    const text = tail === undefined ? page.text : lastLines(stored(), tail, mostCharacters);
    return textResult(happened && `${happened.replace(/; $/, '')}`, text);
  }
  if (!job) return textResult(happened.replace(/; $/, ''), new Page(stored()).fill(given).text);
  return jobResult(job, happened, services);
}

function jobResult(job: Job, happened: string, { outputs }: OutputServices): ToolResult {
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

/** An answer that is filled until nothing more fits. */
class Page {
  readonly #output: StoredOutput;
  readonly #pieces: string[] = [];
  #size = 0;
  #note = '';

  constructor(output: StoredOutput) {
    this.#output = output;
  }

  get text(): string {
    const lines = this.#pieces.join('\n');
    const goesOn = this.#output.endedAt === undefined ? '; it goes on' : '';
    return this.#note === '' ? lines : `${lines}${lines && '\n'}[${this.#note}${goesOn}]`;
  }

  /** Puts lines in from one on, as they are. */
  fill({ start_line: from = 1, end_line: to = Infinity }: Given): this {
    const { lineCount, endedAt } = this.#output;
    if (from > Math.max(1, lineCount) && (endedAt !== undefined || from > lineCount + 1))
      throw invalid('start_line', `there are ${counted(lineCount)}`);
    if (to < from) throw invalid('end_line', 'is before start_line');
    let last = from - 1;
    fill: for (const lines of this.#output.lines(from))
      for (const line of lines) {
        if (line.number > to || this.#pieces.length >= mostLines || !this.#add(textOf(line))) break fill;
        last = line.kind === 'line' ? line.number : line.last;
      }
    const isAll = from === 1 && last >= lineCount;
    const next = last < lineCount ? `; next: start_line=${last + 1}` : '';
    if (lineCount === 0) this.#note = `nothing was printed${endedAt === undefined ? ' yet' : ''}`;
    else if (!isAll || endedAt === undefined)
      this.#note = `lines ${from}-${last} of ${lineCount.toLocaleString('en')}${next}`;
    return this;
  }

  /** Puts in the lines that match, with their numbers. */
  async search(
    { start_line: from = 1, end_line: to = Infinity, context }: Given,
    pattern: string,
    signal: AbortSignal,
  ) {
    const before: OutputLine[] = [];
    let after = 0;
    const add = (line: OutputLine, mark: string) => {
      const isAdded = this.#add(line.kind === 'line' ? `${line.number}${mark}${line.text}` : textOf(line));
      if (!isAdded) this.#note = `more match; next: start_line=${line.number}`;
      return isAdded;
    };
    for await (const step of searchLines(this.#output, { from, pattern, parameter: 'pattern', signal }))
      for (const [index, line] of step.lines.entries()) {
        if (line.number > to) return;
        const isMatch = step.matches[index] === true;
        if (line.kind === 'missing' || isMatch) {
          for (const earlier of before.splice(0)) if (!add(earlier, '-')) return;
          if (!add(line, ':')) return;
          after = isMatch ? context : after;
        } else if (after-- > 0) {
          if (!add(line, '-')) return;
        } else if (context > 0 && before.push(line) > context) before.shift();
      }
    if (this.#pieces.length === 0)
      this.#note = `no line of ${this.#output.lineCount.toLocaleString('en')} matches`;
  }

  /** False when there is no room for it. */
  #add(piece: string): boolean {
    if (this.#pieces.length > 0 && this.#size + piece.length > mostCharacters) return false;
    this.#pieces.push(piece);
    this.#size += piece.length + 1;
    return true;
  }
}

const textOf = (line: OutputLine): string =>
  line.kind === 'line' ? line.text : `[lines ${line.number}-${line.last} were not kept]`;
