import { ToolcribError } from '../../core/errors.ts';
import type { Content, Result } from '../../core/tool.ts';
import type { Job } from '../../machine/jobs/job.ts';
import type { StoredOutput } from '../../machine/output-store/kept-output.ts';
import type { OutputStore } from '../../machine/output-store/output-store.ts';
import { headAndTail, inlineLimit, sanitize } from '../../machine/sanitize.ts';

const stateWords = {
  running: 'is running',
  done: 'is done',
  failed: 'failed',
  stopped: 'was stopped',
  timed_out: 'was ended at its time limit (budgets.jobMinutes)',
} as const;

/** A text of others as one line of so many characters at most, safe to show. */
export const toOneLine = (text: string, most: number): string =>
  headAndTail(sanitize(text).replaceAll(/\s+/g, ' '), most).replaceAll('\n', ' ');

/** Describes a job in one line: `dev-1 is running for 12 s (npm run dev)`. */
export function describeJob({ id, call, state, seconds, program }: Job): string {
  const time = `${state === 'running' ? 'for' : 'after'} ${formatDuration(seconds)}`;
  return `${id} ${stateWords[state]} ${time} (${toOneLine(program?.command ?? call.tool, 200)})`;
}

const formatDuration = (seconds: number): string =>
  seconds < 120 ? `${Math.round(seconds)} s` : `${Math.round(seconds / 60)} min`;

/** The last lines of an output, fewer when they have too many characters. */
export function lastLines(output: StoredOutput, count: number, mostCharacters = inlineLimit / 2): string {
  const texts: string[] = [];
  let size = 0;
  for (const lines of output.lines(Math.max(1, output.lineCount - count + 1)))
    for (const line of lines) {
      const isMissing = line.kind === 'missing';
      const text = isMissing ? `[lines ${line.number}-${line.last} were not kept]` : line.text;
      texts.push(text);
      size += text.length + 1;
      while (size > mostCharacters && texts.length > 1) {
        const dropped = texts.shift() ?? '';
        size -= dropped.length + 1;
      }
    }
  return texts.join('\n');
}

/** The last lines that a job has printed; empty when its output does not exist, or not any more. */
export function lastLinesOfJob(job: Job, outputs: Pick<OutputStore, 'list'>, count: number): string {
  const output = outputs.list(job.client).find(({ handle }) => handle === job.id);
  return output ? lastLines(output, count) : '';
}

/**
 * The result of a call whose job is still running: its state, its last lines, and the calls that go on with
 * it.
 */
export function runningResult(
  { job, joined = false }: { readonly job: Job; readonly joined?: boolean },
  outputs: Pick<OutputStore, 'list'>,
): Result {
  const { id, call } = job;
  const nextCalls = call.isBackground
    ? `read_output id=${id} reads it; control_job stops it`
    : `read_output id=${id} wait_for=end waits for it, as the same call does; control_job stops it`;
  const first = `${describeJob(job)}${joined && call.isBackground ? '; it was already' : ''}`;
  const printed = lastLinesOfJob(job, outputs, call.isBackground ? 20 : 5);
  return { ...textResult(first, printed, `[${nextCalls}]`), meta: { 'toolcrib/job': id } };
}

/** The result of a job that has ended, below a line about the job; `prefix` begins that line. */
export function endedResult(job: Job, prefix: string): Result {
  const first: Content = { type: 'text', text: `${prefix}${describeJob(job)}` };
  try {
    const { content, isError } = job.result();
    return { content: [first, ...content], ...(isError && { isError }) };
  } catch (error) {
    return { isError: true, content: [first, { type: 'text', text: describeFailure(error, job.call.tool) }] };
  }
}

function describeFailure(error: unknown, tool: string): string {
  if (error instanceof ToolcribError) return `${error.code}: ${error.message}`;
  const reason = error instanceof Error ? error.message : String(error);
  return `PROGRAM_FAILED: it ended without a result (${toOneLine(reason, 500)}). Call ${tool} itself again.`;
}

export const textResult = (...parts: readonly string[]): Result => ({
  content: [{ type: 'text', text: parts.filter((part) => part !== '').join('\n') }],
});
