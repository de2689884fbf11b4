import * as z from 'zod';
import { also, unlisted } from '../core/accepted.ts';
import { ToolcribError } from '../core/errors.ts';
import type { Plan, PlanContext, Result } from '../core/tool.ts';
import { sanitize } from '../machine/sanitize.ts';
import type { Job } from '../machine/jobs/job.ts';
import { end } from '../machine/jobs/jobs.ts';
import { describeJob, textResult } from './output/job-text.ts';
import { defineTool, type ToolPlanContext } from './define-tool.ts';
import { handleAliases } from './output/page.ts';

/** Characters that one call sends at most; more than this belongs into a file. */
const mostCharacters = 64 * 1024;

const params = z.strictObject({
  id: also(z.string().min(1).max(100).describe('The job: dev-1'), handleAliases),
  action: z.enum(['send', 'stop']),
  text: also(
    z.string().max(mostCharacters).optional().describe('To send, as it is: end a line with \\n'),
    'input chars',
  ),
  end: z.boolean().default(false).describe('Send: nothing more comes'),
  description: unlisted(z.string().optional(), 'explanation justification'),
});

type ControlJobParams = z.output<typeof params>;

/** Writes to the program of a job, or ends the job with everything it started. */
export default defineTool({
  name: 'control_job',
  title: 'Control job',
  description: 'Stops a background job and all it started, or sends text to its standard input.',
  hint: 'stop a dev server or job',
  listed: 'yes',
  inEveryToolset: true,
  effects: ['execute'],
  params,
  plan: async (request, context) => planControl(request, findJob(request, context), context),
  run: ({ work }, context) => control(work, context),
});

function findJob({ id }: ControlJobParams, { client, session }: ToolPlanContext): Job {
  const job = session.jobs.find(client, id);
  if (job) return job;
  throw new ToolcribError(
    'NOT_FOUND',
    `id: no job ${JSON.stringify(id)} runs.`,
    'read_output without an id lists them.',
  );
}

/**
 * Plans a stop, which has no effects, so that a job can be ended even where nothing may be changed; or text
 * to be sent, which is decided about like a program that runs.
 */
function planControl(
  request: ControlJobParams,
  { call, program }: Job,
  { workspace }: PlanContext,
): Plan<ControlJobParams> {
  const { action, text = '' } = request;
  const { command = call.title, folder = workspace.roots[0] ?? '' } = program ?? {};
  const plan = { folder, paths: [], isUndoable: false, fingerprint: JSON.stringify(request), work: request };
  if (action === 'stop') return { ...plan, effects: [], subject: `stop ${sanitize(command)}` };
  if (request.text === undefined && !request.end)
    throw new ToolcribError('ARG_INVALID', 'text: is required to send.', 'Give it, or end: true.');
  return {
    ...plan,
    effects: ['execute'],
    subject: `write to ${sanitize(command)}: ${text.trimEnd()}`,
    // A program such as a shell takes the text as commands, which nobody has seen before.
    ...(call.tool === 'run' ? { approval: 'program' as const } : { trust: 'runs code of this folder' }),
    preview: text,
  };
}

async function control(request: ControlJobParams, context: ToolPlanContext): Promise<Result> {
  const job = findJob(request, context);
  if (request.action === 'send') {
    job.write(request.text ?? '', request.end);
    return textResult(`sent; ${describeJob(job)}`);
  }
  const wasRunning = job.state === 'running';
  await end([job]);
  // The output is not repeated: read_output has it.
  return textResult(wasRunning ? describeJob(job) : `${describeJob(job)}; it had ended before`);
}
