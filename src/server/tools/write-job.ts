import * as z from 'zod';
import { defineTool, type Tool } from '../../core/tool.ts';
import { presentable } from '../../machine/presentable.ts';
import { aboutJob, textResult, type JobServices } from './job-text.ts';

/** Much more would be a file. */
const mostCharacters = 64 * 1024;
/** Tools whose input can be commands that nobody has seen. */
const takesCommands: ReadonlySet<string> = new Set(['run_command', 'run_script']);

/** Writes to the input of a job's program. */
export const writeJob = (services: JobServices): Tool =>
  defineTool({
    name: 'write_job',
    program: 'toolcrib',
    title: 'Write to job',
    description: 'Write to the input of a job that was started with input=true.',
    effects: ['execute'],
    params: z.strictObject({
      job: z.string().min(1).max(100),
      text: z.string().max(mostCharacters).describe('As it is: end a line with \\n'),
      end: z.boolean().default(false).describe('Nothing more comes'),
    }),
    async plan(given, { client, workspace }) {
      const { call, program } = services.jobs.find(client, given.job);
      const { command = call.title, folder = workspace.home } = program ?? {};
      const line = given.text.trimEnd();
      return {
        effects: ['execute'],
        subject: `write to ${presentable(command)}: ${line}`,
        folder,
        touches: [],
        ...(takesCommands.has(call.tool)
          ? { asks: 'program' as const }
          : { trust: 'runs code of this folder' }),
        preview: given.text,
        takenBack: false,
        exactly: JSON.stringify(given),
        work: given,
      };
    },
    async run({ work: { job: id, text, end } }, { client }) {
      const job = services.jobs.find(client, id);
      job.write(text, end);
      return textResult(`Written. ${aboutJob(job)}`);
    },
  });
