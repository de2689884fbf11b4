import { createHash } from 'node:crypto';
import * as z from 'zod';
import { ToolcribError } from '../../core/errors.ts';
import { defineTool, type CallContext, type Tool, type ToolResult } from '../../core/tool.ts';
import { aboutJob, linesOf, textResult, type JobServices } from './job-text.ts';

export interface StartServices extends JobServices {
  /** Another tool, as if it had been called itself: checked, decided about and asked about. */
  callTool(name: string, params: unknown, context: CallContext): Promise<ToolResult>;
}

/** They end at once, or wait for others. */
const noJobs: ReadonlySet<string> = new Set([
  'start_job',
  'wait_job',
  'read_job',
  'write_job',
  'stop_job',
  'list_jobs',
  'read_output',
]);

/**
 * Begins any tool as a job. It may do whatever the tool may, so a host is told to expect the worst; what is really done is
 * decided, and asked, about the tool itself.
 */
export const startJob = (services: StartServices): Tool =>
  defineTool({
    name: 'start_job',
    program: 'toolcrib',
    title: 'Start job',
    description: 'Start any tool without waiting for its end: servers, watchers, long builds.',
    effects: ['execute'],
    permits: true,
    params: z.strictObject({
      tool: z.string().min(1).max(100),
      arguments: z.record(z.string(), z.unknown()).default({}),
      input: z.boolean().default(false).describe('write_job will write to it'),
    }),
    async call(given, context) {
      const { tool, arguments: params, input } = given;
      if (noJobs.has(tool))
        throw new ToolcribError('ARG_INVALID', `tool: ${tool} cannot be a job.`, 'Call it itself.');
      const { client, workspace, signal, budgets } = context;
      // To start is nothing yet; but a rule may be about this tool.
      if (workspace.roots.length > 0) await context.permit({ effects: ['read'], folder: workspace.home });
      const work = JSON.stringify(['start_job', tool, params, input, workspace.roots]);
      const key = createHash('sha256').update(work).digest('base64');
      const answer = await services.jobs.run(
        client,
        { key, tool, title: tool },
        ({ signal: ofJob, progress, keeps, takeInput }) =>
          services.callTool(tool, params, {
            ...context,
            signal: ofJob,
            progress,
            keepOutput: (command, folder) => keeps(context.keepOutput(command), command, folder),
            ...(takeInput && { takeInput }),
          }),
        { signal, budgetMs: budgets.callSeconds * 1000, announceAtOnce: true, input, limits: budgets },
      );
      if (answer.kind === 'done') return endedAtOnce(answer.result);
      const { text } = await linesOf(services.outputs, client, answer.job, { tail: 20 }, 2000);
      const said = answer.joined ? 'It was running already: ' : '';
      return {
        ...textResult(`${said}${aboutJob(answer.job)}`, text),
        meta: { 'toolcrib/job': answer.job.id },
      };
    },
  });

const note = '[It has ended already; no job is left.]';

function endedAtOnce({ content, data, isError, meta }: ToolResult): ToolResult {
  const told = data && !isError ? [{ type: 'text' as const, text: JSON.stringify(data) }] : (content ?? []);
  return {
    content: [...told, { type: 'text', text: note }],
    ...(isError && { isError }),
    ...(meta && { meta }),
  };
}
