import * as z from 'zod';
import { defineSimpleTool, type Tool } from '../../core/tool.ts';
import { aboutJob, linesOf, textResult, type JobServices } from './job-text.ts';

/**
 * Ends a job and what it started. Only what the same client has started can be named, and it can be started again;
 * what a program may lose that way it would lose at its time limit, too. It has none of the effects that are decided
 * about: who may start a job, also where nothing may be changed, may end it.
 */
export const stopJob = (services: JobServices): Tool =>
  defineSimpleTool({
    name: 'stop_job',
    program: 'toolcrib',
    title: 'Stop job',
    description: 'End a job and everything it started.',
    effects: [],
    params: z.strictObject({ job: z.string().min(1).max(100) }),
    async call({ job: id }, { client }) {
      const { jobs, outputs } = services;
      const wasRunning = jobs.find(client, id).state === 'running';
      const job = await jobs.stop(client, id);
      const { text } = linesOf(outputs, client, job, { tail: 10 }, 2000);
      return textResult(wasRunning ? aboutJob(job) : `${aboutJob(job)}; it had ended before`, text);
    },
  });
