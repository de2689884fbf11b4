import * as z from 'zod';
import { also, unlisted } from '../core/accepted.ts';
import { ToolcribError } from '../core/errors.ts';
import type { Plan, PlanContext, Result } from '../core/tool.ts';
import { sanitize } from '../machine/sanitize.ts';
import type { Job } from '../machine/jobs/job.ts';
import { end } from '../machine/jobs/jobs.ts';
import { aboutJob, textResult } from './output/job-text.ts';
import { defineTool, type ToolPlanContext } from './define-tool.ts';
import { handles } from './output/page.ts';

/** Much more would be a file. */
const mostCharacters = 64 * 1024;

const params = z.strictObject({
  id: also(z.string().min(1).max(100).describe('The job: dev-1'), handles),
  action: z.enum(['send', 'stop']),
  text: also(
    z.string().max(mostCharacters).optional().describe('To send, as it is: end a line with \\n'),
    'input chars',
  ),
  end: z.boolean().default(false).describe('Send: nothing more comes'),
  description: unlisted(z.string().optional(), 'explanation justification'),
});

type ControlJobParams = z.output<typeof params>;

/** Writes to a job's program, or ends the job and what it started. */
export default defineTool({
  name: 'control_job',
  title: 'Control job',
  description: 'Stops a background job and all it started, or sends text to its standard input.',
  hint: 'stop a dev server or job',
  listed: 'yes',
  inEveryToolset: true,
  effects: ['execute'],
  params,
  plan: async (given, context) => planControl(given, jobOf(given, context), context),
  run: ({ work }, context) => control(work, context),
});

function jobOf({ id }: ControlJobParams, { client, session }: ToolPlanContext): Job {
  const job = session.jobs.find(client, id);
  if (job) return job;
  throw new ToolcribError(
    'NOT_FOUND',
    `id: no job ${JSON.stringify(id)} runs.`,
    'read_output without an id lists them.',
  );
}

/**
 * Who may start a job, also where nothing may be changed, may end it; what is sent is decided about like what
 * runs.
 */
function planControl(
  given: ControlJobParams,
  { call, program }: Job,
  { workspace }: PlanContext,
): Plan<ControlJobParams> {
  const { action, text = '' } = given;
  const { command = call.title, folder = workspace.roots[0] ?? '' } = program ?? {};
  const plan = { folder, paths: [], isUndoable: false, fingerprint: JSON.stringify(given), work: given };
  if (action === 'stop') return { ...plan, effects: [], subject: `stop ${sanitize(command)}` };
  if (given.text === undefined && !given.end)
    throw new ToolcribError('ARG_INVALID', 'text: is required to send.', 'Give it, or end: true.');
  return {
    ...plan,
    effects: ['execute'],
    subject: `write to ${sanitize(command)}: ${text.trimEnd()}`,
    // What a program is told can be commands that nobody has seen.
    ...(call.tool === 'run' ? { approval: 'program' as const } : { trust: 'runs code of this folder' }),
    preview: text,
  };
}

async function control(given: ControlJobParams, context: ToolPlanContext): Promise<Result> {
  const job = jobOf(given, context);
  if (given.action === 'send') {
    job.write(given.text ?? '', given.end);
    return textResult(`sent; ${aboutJob(job)}`);
  }
  const wasRunning = job.state === 'running';
  await end([job]);
  // Who stops it has seen enough of it; read_output has the rest.
  return textResult(wasRunning ? aboutJob(job) : `${aboutJob(job)}; it had ended before`);
}
