import * as z from 'zod';
import { also } from '../core/accepted.ts';
import type { Result } from '../core/tool.ts';
import type { Job } from '../machine/jobs/job.ts';
import { headAndTail } from '../machine/sanitize.ts';
import type { Session } from '../machine/session.ts';
import { aboutJob, endedResult, inOneLine, lastLines, lastLinesOf, textResult } from './output/job-text.ts';
import { counted, handles, invalid, mostCharacters, mostLines, page } from './output/page.ts';
import { waitFor } from './output/wait-for.ts';
import { defineTool, type ToolCallContext } from './define-tool.ts';

const usualTail = 50;
/** Outputs that are listed, the latest. */
const mostListed = 20;
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

/**
 * Jobs and what was printed: all of them in a line each; or one, waited for, by pages, from its end, or
 * searched.
 */
export default defineTool({
  name: 'read_output',
  title: 'Read output',
  description:
    'Reads what a job or long command printed, or waits for it; without id lists jobs and kept outputs.',
  hint: 'read output of a job, wait for it',
  aliases: 'read_job wait_job list_jobs BashOutput TaskOutput get_terminal_output',
  listed: 'yes',
  inEveryToolset: true,
  onlyWaits: true,
  effects: ['read'],
  params,
  run: ({ work }, context) => answer(work, context),
});

async function answer(given: ReadOutputParams, context: ToolCallContext): Promise<Result> {
  const { session } = context;
  const { id, tail, pattern, start_line, end_line, context: around, wait_for: awaited } = given;
  const selects = tail ?? pattern ?? start_line ?? end_line;
  if (id === undefined) {
    if ((selects ?? awaited) !== undefined) throw invalid('id', 'is required with the other parameters');
    return textResult(listing(session, context.client));
  }
  if (tail !== undefined && (pattern ?? start_line ?? end_line) !== undefined)
    throw invalid('tail', 'cannot be given with start_line, end_line or pattern');
  if (around > 0 && pattern === undefined) throw invalid('context', 'is given with pattern');
  const { client, signal } = context;
  const job = session.jobs.find(client, id);
  const stored = () => session.outputs.find(client, id);
  // Who asks for a handle that is none is told so before anything is waited for.
  const output = job ? undefined : stored();
  const happened = awaited === undefined ? '' : await waitFor(awaited, job ?? output, given, context);
  if (selects === undefined && job) return jobResult(job, happened, session);
  const text =
    tail === undefined ? await page(stored(), given, signal) : lastLines(stored(), tail, mostCharacters);
  return textResult(happened.replace(/; $/, ''), text);
}

function jobResult(job: Job, happened: string, { outputs }: Session): Result {
  if (job.state !== 'running') return endedResult(job, happened);
  const printed = lastLinesOf(job, outputs, happened === '' ? usualTail : usualTail / 2);
  return textResult(`${happened}${aboutJob(job)}`, printed || '[nothing was printed yet]');
}

function listing({ jobs, outputs }: Session, client: string): string {
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
