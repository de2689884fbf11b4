import type { ToolResult } from '../core/tool.ts';
import type { Job } from '../machine/jobs/job.ts';

/** What a call answers that takes longer than a client waits. */
export function stillRunning(job: Job, seconds: number): ToolResult {
  const text = [
    `STILL_RUNNING: not done after ${seconds} s; it goes on as job ${job.id}.`,
    `wait_job job=${job.id} waits for it, and so does the same call again.`,
    'read_job shows what it printed, stop_job ends it.',
    ...(job.lastLine ? [`Last line: ${job.lastLine}`] : []),
  ];
  return {
    content: [{ type: 'text', text: text.join('\n') }],
    meta: { 'toolcrib/job': job.id },
  };
}
