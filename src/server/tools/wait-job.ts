import * as z from 'zod';
import { ToolcribError } from '../../core/errors.ts';
import { defineSimpleTool, type Tool } from '../../core/tool.ts';
import type { Job } from '../../machine/jobs/job.ts';
import { waitForJob } from '../../machine/jobs/jobs.ts';
import { searchLines } from '../../machine/output-store/search-lines.ts';
import { aboutJob, endedResult, linesOf, textResult, type JobServices } from './job-text.ts';

const tailLines = 20;

/** Waits for a job: until it has ended, has printed something, or listens. */
export const waitJob = (services: JobServices): Tool =>
  defineSimpleTool({
    name: 'wait_job',
    program: 'toolcrib',
    title: 'Wait for job',
    description: 'Wait until a job has ended, printed a line that matches, or listens at a port.',
    effects: ['read'],
    params: z.strictObject({
      job: z.string().min(1).max(100),
      seconds: z.int().min(0).max(3600).optional().describe('At most; never longer than a call may take'),
      pattern: z.string().min(1).max(1000).optional().describe('JavaScript regex for one line'),
      port: z.int().min(1).max(65_535).optional().describe('On this machine'),
    }),
    async call({ job: id, seconds, pattern, port }, { client, signal, progress, budgets }) {
      const { jobs, outputs } = services;
      const job = jobs.find(client, id);
      const mostMs = Math.min(seconds ?? budgets.callSeconds, budgets.callSeconds) * 1000;
      const search = pattern === undefined ? undefined : lineSearch(job, pattern, outputs, signal);
      let happened: string | undefined;
      await waitForJob(job, { signal, progress }, mostMs, async () => {
        const line = await search?.();
        if (line !== undefined) happened = `line ${line} matches; `;
        else if (port !== undefined && job.state === 'running' && (await accepts(port)))
          happened = `port ${port} accepts connections; `;
        return happened !== undefined;
      });
      if (signal.aborted) throw new ToolcribError('CANCELLED', 'The call was cancelled.');
      const said = happened ?? missed(pattern, port, job.state === 'running');
      if (job.state !== 'running') return endedResult(job, said);
      const { text } = linesOf(outputs, client, job, { tail: tailLines });
      return textResult(`${said}${aboutJob(job)}`, text);
    },
  });

/** Looks for the first line that matches, from where it looked last; a line that may still grow is looked at again. */
function lineSearch(
  job: Job,
  pattern: string,
  outputs: JobServices['outputs'],
  signal: AbortSignal,
): () => Promise<number | undefined> {
  let from = 1;
  return async () => {
    if (!job.program) return undefined;
    const stored = outputs.find(job.client, job.id);
    const { finalLines } = stored;
    for await (const { lines, matches } of searchLines(stored, {
      from,
      pattern,
      parameter: 'pattern',
      signal,
    })) {
      const found = lines[matches.indexOf(true)];
      if (found) return found.number;
    }
    from = finalLines + 1;
    return undefined;
  };
}

/** Local connections are made at once or not at all. */
const connectMs = 1000;

/** Whether something on this computer accepts connections at a port. */
async function accepts(port: number): Promise<boolean> {
  const { connect } = await import('node:net');
  const tried = ['127.0.0.1', '::1'].map(
    (host) =>
      new Promise<boolean>((resolve) => {
        const socket = connect({ host, port, timeout: connectMs });
        const answer = (accepted: boolean) => {
          socket.destroy();
          resolve(accepted);
        };
        socket
          .once('connect', () => answer(true))
          .once('timeout', () => answer(false))
          .once('error', () => answer(false));
      }),
  );
  return (await Promise.all(tried)).includes(true);
}

/** What was waited for and did not come. */
function missed(pattern: string | undefined, port: number | undefined, mayCome: boolean): string {
  const missing = [
    ...(pattern === undefined ? [] : ['no line matches']),
    ...(port === undefined ? [] : [`port ${port} is not listened to`]),
  ];
  return missing.length === 0 ? '' : `${missing.join(' and ')}${mayCome ? ' until now' : ''}; `;
}
