import * as z from 'zod';
import { defineTool, type Tool } from '../../core/tool.ts';
import { presentable } from '../../machine/presentable.ts';
import { aboutJob, textResult, type JobServices } from './job-text.ts';

/** Much more would be a file. */
const mostCharacters = 64 * 1024;
/** Their input can be commands that nobody has seen, so it is asked about like a command. */
const runAnything: ReadonlySet<string> = new Set(['run_command', 'run_script']);

/** Writes to the input of a job's program. */
export const writeJob = (services: JobServices): Tool =>
  defineTool({
    name: 'write_job',
    program: 'toolcrib',
    title: 'Write to job',
    description: 'Write to the input of a job that was started with input=true.',
    effects: ['execute'],
    permits: true,
    params: z.strictObject({
      job: z.string().min(1).max(100),
      text: z.string().max(mostCharacters).describe('As it is: end a line with \\n'),
      end: z.boolean().default(false).describe('Nothing more comes'),
    }),
    async call({ job: id, text, end }, context) {
      const { jobs } = services;
      const facts = jobs.find(context.client, id).facts();
      await context.permit({
        effects: ['execute'],
        folder: context.workspace.home,
        shows: [
          { title: `Input of ${facts.tool}`, text: presentable(facts.command ?? facts.title) },
          { title: 'Text', text },
        ],
        ...(runAnything.has(facts.tool) && { asks: 'command' as const }),
        always: { key: id, says: 'for this job' },
      });
      jobs.write(context.client, id, text, end);
      return textResult(`Written. ${aboutJob(jobs.find(context.client, id).facts())}`);
    },
  });
