import * as z from 'zod';
import { defineSimpleTool, type Tool } from '../../core/tool.ts';
import { aboutJob, endedResult, linesOf, textResult, type JobServices } from './job-text.ts';

const tailLines = 50;

/** How a job is, and what it printed. */
export const readJob = (services: JobServices): Tool =>
  defineSimpleTool({
    name: 'read_job',
    program: 'toolcrib',
    title: 'Read job',
    description:
      'How a job is: its last lines while it runs, then its result. read_output has all it printed.',
    effects: ['read'],
    params: z.strictObject({
      job: z.string().min(1).max(100),
      after: z.int().min(0).optional().describe('Only the lines after this one'),
    }),
    async call({ job: id, after }, { client }) {
      const job = services.jobs.find(client, id);
      if (after === undefined && job.state !== 'running') return endedResult(job, '');
      const which = after === undefined ? { tail: tailLines } : { after };
      const { text, last } = linesOf(services.outputs, client, job, which);
      const next = job.program === undefined ? '' : `\n[for more: after=${last}]`;
      return textResult(
        aboutJob(job),
        text === '' ? `[nothing ${after ? 'more ' : ''}was printed]` : text + next,
      );
    },
  });
