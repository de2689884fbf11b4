import * as z from 'zod';
import type { AnyDiscoverer } from '../../core/discoverer.ts';
import { defineTool, type Tool } from '../../core/tool.ts';
import { discoverers } from '../../discoverers/index.ts';
import { presentable } from '../../machine/presentable.ts';
import { alwaysAsks } from '../own-tools.ts';
import { aboutJob, textResult, type JobServices } from './job-text.ts';

/** Much more would be a file. */
const mostCharacters = 64 * 1024;
/** Whether its input can be commands that nobody has seen, which are asked about like a command. */
async function runsAnything(tool: string): Promise<boolean> {
  if (alwaysAsks.has(tool)) return true;
  const [id = '', ...action] = tool.split('_');
  if (!Object.hasOwn(discoverers, id)) return false;
  const known: AnyDiscoverer = (await discoverers[id as keyof typeof discoverers]()) as AnyDiscoverer;
  const found = known.actions[action.join('_')];
  return found !== undefined && 'runsAnything' in found;
}

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
        // What its folder says counts, and not what the first root does.
        folder: facts.folder ?? context.workspace.home,
        shows: [
          { title: `Input of ${facts.tool}`, text: presentable(facts.command ?? facts.title) },
          { title: 'Text', text, whole: true },
        ],
        ...((await runsAnything(facts.tool)) && { asks: 'command' as const }),
        always: { key: id, says: 'for this job' },
      });
      jobs.write(context.client, id, text, end);
      return textResult(`Written. ${aboutJob(jobs.find(context.client, id).facts())}`);
    },
  });
