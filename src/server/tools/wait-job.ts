import * as z from 'zod';
import { ToolcribError } from '../../core/errors.ts';
import { defineSimpleTool, type Tool } from '../../core/tool.ts';
import { waitForJob, type Happened } from './wait-for-job.ts';
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
      const happened = await waitForJob(job, {
        find: (handle) => outputs.find(client, handle),
        signal,
        progress,
        mostMs: Math.min(seconds ?? budgets.callSeconds, budgets.callSeconds) * 1000,
        pattern,
        port,
      });
      if (happened.kind === 'cancelled') throw new ToolcribError('CANCELLED', 'The call was cancelled.');
      const facts = job.facts();
      if (facts.state !== 'running') return endedResult(job, said(happened, pattern, port));
      const { text } = await linesOf(outputs, client, facts, { tail: tailLines });
      return textResult(`${said(happened, pattern, port)}${aboutJob(facts)}`, text);
    },
  });

/** What was waited for and came, or did not. */
function said(happened: Happened, pattern: string | undefined, port: number | undefined): string {
  switch (happened.kind) {
    case 'matched':
      return `line ${happened.line} matches; `;
    case 'listens':
      return happened.before
        ? `port ${port} is listened to, but already was before the job was started: most likely by another program; `
        : `port ${port} accepts connections; `;
    default: {
      const missing = [
        ...(pattern === undefined ? [] : ['no line matches']),
        ...(port === undefined ? [] : [`port ${port} is not listened to`]),
      ];
      const until = happened.kind === 'ended' ? '' : ' until now';
      return missing.length === 0 ? '' : `${missing.join(' and ')}${until}; `;
    }
  }
}
