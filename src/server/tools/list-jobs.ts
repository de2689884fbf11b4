import * as z from 'zod';
import { defineSimpleTool, type Tool } from '../../core/tool.ts';
import { headAndTail, inlineLimit } from '../../machine/presentable.ts';
import { aboutJob, textResult, type JobServices } from './job-text.ts';

/** The jobs of a client, in one line each. */
export const listJobs = (services: Pick<JobServices, 'jobs'>): Tool =>
  defineSimpleTool({
    name: 'list_jobs',
    program: 'toolcrib',
    title: 'List jobs',
    description: 'What runs as a job, and what has ended within the hour.',
    effects: ['read'],
    params: z.strictObject({}),
    async call(_params, { client }) {
      const lines = services.jobs.list(client).map(aboutJob);
      return textResult(
        lines.length === 0 ? 'There are no jobs.' : headAndTail(lines.join('\n'), inlineLimit),
      );
    },
  });
