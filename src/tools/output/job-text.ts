import { ToolcribError } from '../../core/errors.ts';
import type { Content, Result } from '../../core/tool.ts';
import type { Job } from '../../machine/jobs/job.ts';
import type { StoredOutput } from '../../machine/output-store/kept-output.ts';
import type { OutputStore } from '../../machine/output-store/output-store.ts';
import { headAndTail, inlineLimit, sanitize } from '../../machine/sanitize.ts';

const states = {
  running: 'is running',
  done: 'is done',
  failed: 'failed',
  stopped: 'was stopped',
  timed_out: 'was ended at its time limit (budgets.jobMinutes)',
} as const;

const duration = (count: number): string =>
  count < 120 ? `${Math.round(count)} s` : `${Math.round(count / 60)} min`;

export const inOneLine = (text: string, most: number): string =>
  headAndTail(sanitize(text).replaceAll(/\s+/g, ' '), most).replaceAll('\n', ' ');

/** A job in one line: `dev-1 is running for 12 s (npm run dev)`. */
export function aboutJob({ id, call, state, seconds, program }: Job): string {
  const time = `${state === 'running' ? 'for' : 'after'} ${duration(seconds)}`;
  return `${id} ${states[state]} ${time} (${inOneLine(program?.command ?? call.tool, 200)})`;
}

/** The last lines of an output, as far as there is room for them. */
export function lastLines(output: StoredOutput, count: number, mostCharacters = inlineLimit / 2): string {
  const texts: string[] = [];
  let size = 0;
  for (const lines of output.lines(Math.max(1, output.lineCount - count + 1)))
    for (const line of lines) {
      const isKept = line.kind === 'line';
      const text = isKept ? line.text : `[lines ${line.number}-${line.last} were not kept]`;
      size += (texts[texts.push(text) - 1]?.length ?? 0) + 1;
      while (size > mostCharacters && texts.length > 1) size -= (texts.shift()?.length ?? 0) + 1;
    }
  return texts.join('\n');
}

/** The same of a job, which may have none, or none any more. */
export function lastLinesOf(job: Job, outputs: Pick<OutputStore, 'list'>, count: number): string {
  const output = outputs.list(job.client).find(({ handle }) => handle === job.id);
  return output ? lastLines(output, count) : '';
}

/** What a call answers whose job goes on: that it does, what it printed last, and how to go on. */
export function runningResult(
  { job, joined = false }: { readonly job: Job; readonly joined?: boolean },
  outputs: Pick<OutputStore, 'list'>,
): Result {
  const { id, call } = job;
  const ways = call.isBackground
    ? `read_output id=${id} reads it; control_job stops it`
    : `read_output id=${id} wait_for=end waits for it, as the same call does; control_job stops it`;
  const said = `${aboutJob(job)}${joined && call.isBackground ? '; it was already' : ''}`;
  const printed = lastLinesOf(job, outputs, call.isBackground ? 20 : 5);
  return { ...textResult(said, printed, `[${ways}]`), meta: { 'toolcrib/job': id } };
}

/** The result of a job that has ended, below what is said of it; it is told now. */
export function endedResult(job: Job, said: string): Result {
  const about: Content = { type: 'text', text: `${said}${aboutJob(job)}` };
  try {
    const { content, isError } = job.result();
    return { content: [about, ...content], ...(isError && { isError }) };
  } catch (error) {
    return { isError: true, content: [about, { type: 'text', text: whyNoResult(error, job.call.tool) }] };
  }
}

function whyNoResult(error: unknown, tool: string): string {
  if (error instanceof ToolcribError) return `${error.code}: ${error.message}`;
  const why = error instanceof Error ? error.message : String(error);
  return `PROGRAM_FAILED: it ended without a result (${inOneLine(why, 500)}). Call ${tool} itself again.`;
}

export const textResult = (...parts: readonly string[]): Result => ({
  content: [{ type: 'text', text: parts.filter((part) => part !== '').join('\n') }],
});
