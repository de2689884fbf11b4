import { createHash } from 'node:crypto';
import * as z from 'zod';
import { checkParams } from '../../core/check-params.ts';
import { ToolcribError } from '../../core/errors.ts';
import { defineTool, type CallContext, type Plan, type Tool, type ToolResult } from '../../core/tool.ts';
import { aboutJob, linesOf, textResult, type JobServices } from './job-text.ts';

export interface StartServices extends JobServices {
  /** Another tool by its name. Throws UNKNOWN_TOOL. */
  load(name: string): Promise<Tool>;
}

/** A tool, and what it is about to do. */
interface Started {
  readonly tool: Tool;
  readonly plan: Plan;
  readonly arguments: unknown;
  readonly input: boolean;
}

/** They end at once, wait for others, or stand for another tool, which is to be named itself. */
const noJobs: ReadonlySet<string> = new Set([
  'start_job',
  'wait_job',
  'read_job',
  'write_job',
  'stop_job',
  'list_jobs',
  'read_output',
  'run_action',
  'run_read_action',
]);

/**
 * Begins any tool as a job. It may do whatever the tool may, so a host is told to expect the worst; what is really
 * done is decided, and asked, about the tool itself.
 */
export const startJob = (services: StartServices): Tool =>
  defineTool({
    name: 'start_job',
    program: 'toolcrib',
    title: 'Start job',
    description: 'Start any tool without waiting for its end: servers, watchers, long builds.',
    effects: ['execute'],
    params: z.strictObject({
      tool: z.string().min(1).max(100),
      arguments: z.record(z.string(), z.unknown()).default({}),
      input: z.boolean().default(false).describe('write_job will write to it'),
    }),
    async plan({ tool: name, arguments: given, input }, context): Promise<Plan<Started>> {
      if (noJobs.has(name))
        throw new ToolcribError('ARG_INVALID', `tool: ${name} cannot be a job.`, 'Call it itself.');
      const tool = await services.load(name);
      const plan = await tool.plan(checkParams(tool.params, given), context);
      return { ...plan, tool: name, work: { tool, plan, arguments: given, input } };
    },
    run: ({ work }, context) => start(work, services, context),
  });

async function start(
  { tool, plan, arguments: given, input }: Started,
  { jobs, outputs }: StartServices,
  context: CallContext,
): Promise<ToolResult> {
  const { client, workspace } = context;
  const work = JSON.stringify(['start_job', tool.name, given, input, workspace.roots]);
  const key = createHash('sha256').update(work).digest('base64');
  const call = { key, tool: tool.name, title: tool.title };
  const answer = await jobs.start(call, (ofJob) => tool.run(plan, ofJob), context, input);
  if (answer.kind === 'done') return endedAtOnce(answer.result);
  const { text } = linesOf(outputs, client, answer.job, { tail: 20 }, 2000);
  const said = answer.joined ? 'It was running already: ' : '';
  return {
    ...textResult(`${said}${aboutJob(answer.job)}`, text),
    meta: { 'toolcrib/job': answer.job.id },
  };
}

const note = '[It has ended already; no job is left.]';

function endedAtOnce({ content, data, isError, meta }: ToolResult): ToolResult {
  const told = data && !isError ? [{ type: 'text' as const, text: JSON.stringify(data) }] : (content ?? []);
  return {
    content: [...told, { type: 'text', text: note }],
    ...(isError && { isError }),
    ...(meta && { meta }),
  };
}
