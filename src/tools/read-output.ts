import * as z from 'zod';
import { also } from '../core/accepted.ts';
import type { Result } from '../core/tool.ts';
import type { Job } from '../machine/jobs/job.ts';
import { headAndTail } from '../machine/sanitize.ts';
import type { Session } from '../machine/session.ts';
import {
  describeJob,
  endedResult,
  toOneLine,
  lastLines,
  lastLinesOfJob,
  textResult,
} from './output/job-text.ts';
import {
  formatLineCount,
  handleAliases,
  invalidParameter,
  mostCharacters,
  mostLines,
  readPage,
} from './output/page.ts';
import { waitFor } from './output/wait-for.ts';
import { defineTool, type ToolCallContext } from './define-tool.ts';

const usualTail = 50;
/** Outputs that are listed at most: the latest. */
const mostListed = 20;
const params = z.strictObject({
  id: also(
    z.string().min(1).max(100).optional().describe('Job or output that an answer named: dev-1'),
    handleAliases,
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
 * Lists jobs and kept outputs, a line each; or reads one of them by pages, from its end, or by the lines that
 * match, after waiting for something if asked.
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
  run: ({ work }, context) => readOutput(work, context),
});

async function readOutput(request: ReadOutputParams, context: ToolCallContext): Promise<Result> {
  const { session } = context;
  const { id, tail, pattern, start_line, end_line, context: around, wait_for: awaited } = request;
  const selection = tail ?? pattern ?? start_line ?? end_line;
  if (id === undefined) {
    if ((selection ?? awaited) !== undefined)
      throw invalidParameter('id', 'is required with the other parameters');
    return textResult(listing(session, context.client));
  }
  if (tail !== undefined && (pattern ?? start_line ?? end_line) !== undefined)
    throw invalidParameter('tail', 'cannot be given with start_line, end_line or pattern');
  if (around > 0 && pattern === undefined) throw invalidParameter('context', 'is given with pattern');
  const { client, signal } = context;
  const job = session.jobs.find(client, id);
  const findOutput = () => session.outputs.find(client, id);
  // A handle that does not exist is refused at once, before anything is waited for.
  const ended = job ? undefined : findOutput();
  const event = awaited === undefined ? '' : await waitFor(awaited, job ?? ended, request, context);
  if (selection === undefined && job) return jobResult(job, event, session);
  const output = findOutput();
  const text =
    tail === undefined ? await readPage(output, request, signal) : lastLines(output, tail, mostCharacters);
  return textResult(event.replace(/; $/, ''), text);
}

function jobResult(job: Job, event: string, { outputs }: Session): Result {
  if (job.state !== 'running') return endedResult(job, event);
  const printed = lastLinesOfJob(job, outputs, event === '' ? usualTail : usualTail / 2);
  return textResult(`${event}${describeJob(job)}`, printed || '[nothing was printed yet]');
}

function listing({ jobs: allJobs, outputs }: Session, client: string): string {
  const jobs = allJobs.list(client);
  const names = new Set(jobs.map(({ id }) => id));
  const others = outputs
    .list(client)
    .filter(({ handle }) => !names.has(handle))
    .slice(-mostListed)
    .map(
      ({ handle, about, lineCount }) =>
        `${handle}: ${formatLineCount(lineCount)} of ${toOneLine(about, 200)}`,
    );
  const lines = [...jobs.map(describeJob), ...others];
  return lines.length === 0 ? 'There are no jobs, and no output is kept.' : headAndTail(lines.join('\n'));
}
