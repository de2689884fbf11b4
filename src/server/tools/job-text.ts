import { ToolcribError } from '../../core/errors.ts';
import type { Content, ToolResult } from '../../core/tool.ts';
import type { Job } from '../../machine/jobs/job.ts';
import type { Jobs } from '../../machine/jobs/jobs.ts';
import { eachLine } from '../../machine/output-store/kept-output.ts';
import type { OutputStore } from '../../machine/output-store/output-store.ts';
import { headAndTail, inlineLimit, presentable } from '../../machine/presentable.ts';

/** What the tools about jobs need. */
export interface JobServices {
  readonly jobs: Jobs;
  readonly outputs: Pick<OutputStore, 'find'>;
}

const states = {
  running: 'is running',
  done: 'is done',
  failed: 'failed',
  stopped: 'was stopped',
  timed_out: 'was ended at its time limit (budgets.jobMinutes)',
} as const;

const duration = (count: number): string =>
  count < 120 ? `${Math.round(count)} s` : `${Math.round(count / 60)} min`;

const oneLine = (text: string, most: number): string =>
  headAndTail(presentable(text).replaceAll(/\s+/g, ' '), most).replaceAll('\n', ' ');

/** A job in one line. */
export function aboutJob({ id, call, state, seconds, program }: Job): string {
  const time = `${state === 'running' ? 'for' : 'after'} ${duration(seconds)}`;
  const what = program ? `${call.tool}: ${oneLine(program.command, 200)}` : call.tool;
  return `job ${id} ${states[state]} ${time} (${what})`;
}

export interface Lines {
  readonly text: string;
  /** The last line that will not change any more. */
  readonly last: number;
}

/** Lines of a job's output: those after one, or the last ones; nothing when it has no output, or none any more. */
export function linesOf(
  outputs: Pick<OutputStore, 'find'>,
  client: string,
  { id, program }: Job,
  which: { readonly after: number } | { readonly tail: number },
  mostCharacters = inlineLimit / 2,
): Lines {
  const stored = program && storedOrNot(outputs, client, id);
  if (!stored) return { text: '', last: 0 };
  const from = 'after' in which ? which.after + 1 : Math.max(1, stored.lineCount - which.tail + 1);
  const texts: string[] = [];
  let size = 0;
  let last = from - 1;
  for (const line of eachLine(stored, from)) {
    const text =
      line.kind === 'line'
        ? headAndTail(line.text, 2000)
        : `[lines ${line.number}-${line.last} were not kept]`;
    if ('after' in which && texts.length > 0 && size + text.length > mostCharacters) break;
    texts.push(text);
    size += text.length + 1;
    while (size > mostCharacters && texts.length > 1) size -= (texts.shift()?.length ?? 0) + 1;
    last = line.kind === 'missing' ? line.last : Math.min(line.number, stored.finalLines);
  }
  return { text: texts.join('\n'), last };
}

/** Outputs are forgotten before jobs are when there are many. */
function storedOrNot(outputs: Pick<OutputStore, 'find'>, owner: string, handle: string) {
  try {
    return outputs.find(owner, handle);
  } catch (error) {
    if (error instanceof ToolcribError) return undefined;
    throw error;
  }
}

/** The result of a job that has ended, as text below what is said of it; it is told now. */
export function endedResult(job: Job, said: string): ToolResult {
  const about: Content = { type: 'text', text: `[${said}${aboutJob(job)}]` };
  try {
    const { content, data, isError } = job.result();
    const told: readonly Content[] =
      data && !isError ? [{ type: 'text', text: JSON.stringify(data) }] : (content ?? []);
    return { content: [about, ...told], ...(isError && { isError }) };
  } catch (error) {
    return { isError: true, content: [about, { type: 'text', text: whyNoResult(error, job.call.tool) }] };
  }
}

function whyNoResult(error: unknown, tool: string): string {
  if (error instanceof ToolcribError) return `${error.code}: ${error.message}`;
  const why = error instanceof Error ? error.message : String(error);
  return `PROGRAM_FAILED: it ended without a result (${oneLine(why, 500)}). Call ${tool} itself again.`;
}

export const textResult = (...parts: readonly string[]): ToolResult => ({
  content: [{ type: 'text', text: parts.filter((part) => part !== '').join('\n') }],
});
