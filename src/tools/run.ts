import * as z from 'zod';
import { also, unlisted } from '../core/accepted.ts';
import { text } from '../core/params.ts';
import type { Plan, ProgramInput, Result } from '../core/tool.ts';
import { printable } from '../core/command-line.ts';
import type { StoredOutput } from '../machine/output-store/kept-output.ts';
import { inlineLimit, sanitize } from '../machine/sanitize.ts';
import type { Outcome } from '../machine/processes/process.ts';
import { defineTool, type ToolCallContext } from './define-tool.ts';
import { inOneLine, lastLines } from './output/job-text.ts';
import { planLine, type PreparedLine } from './run/plan-line.ts';

const params = z.strictObject({
  command: also(
    z.string().min(1).max(100_000).describe('CI=1 npm test 2>&1 | tail -20 (no other shell syntax)'),
    'cmd',
    { joined: printable },
  ),
  args: z
    .array(z.string())
    .max(1000)
    .optional()
    .describe('Its words, command being the program alone: nothing is parsed'),
  cwd: also(z.string().min(1).optional(), 'workdir working_directory'),
  input: also(text('Standard input').optional(), 'stdin'),
  tail: z.int().min(1).max(2000).optional().describe('Only the last lines: 20'),
  background: also(
    z.boolean().default(false).describe('Dev servers, watchers: answers once it has begun'),
    'run_in_background is_background',
  ),
  timeout: z.int().min(1).optional().describe('Seconds after which it is ended'),
  timeout_ms: unlisted(z.number().min(1).optional()),
  description: unlisted(z.string().optional(), 'explanation justification'),
});

type RunParams = z.output<typeof params>;

/**
 * Runs any programs, without a shell, in a trusted folder; lines that are not everyday ones are asked about.
 */
export default defineTool({
  name: 'run',
  title: 'Run a command',
  description:
    'Runs any command line: programs, pipes, && (no shell). Long runs go on as jobs for read_output.',
  hint: 'run any command or program',
  aliases:
    'bash Bash shell execute_command run_command run_shell_command run_terminal_cmd exec_command terminal',
  listed: 'first',
  startsPrograms: true,
  // It is not known what it does.
  effects: ['write', 'execute', 'network', 'publish', 'destroy'],
  params,
  async plan(given, context): Promise<Plan<PreparedLine & { given: RunParams }>> {
    const plan = await planLine(given, context);
    return { ...plan, background: given.background, work: { ...plan.work, given } };
  },
  run: ({ work }, context) => runLine(work, work.given, context),
});

/** A week, which budgets.jobMinutes can be at most: what ends it is the limit of its job. */
const longestMs = 7 * 24 * 60 * 60 * 1000;
/** All that it prints is kept elsewhere; this is for why it could not be started. */
const keepBytes = 4096;

async function runLine(
  { folder, command, pipes }: PreparedLine,
  { input, timeout, timeout_ms, tail }: RunParams,
  context: ToolCallContext,
): Promise<Result> {
  const { signal, workspace, session } = context;
  const kept = await session.checkpoints?.take(folder, command, workspace, signal);
  const sink = context.keepOutput(command, folder);
  const limitMs = timeout_ms ?? (timeout === undefined ? longestMs : timeout * 1000);
  const until = performance.now() + Math.min(limitMs, longestMs);
  const giveInput = (open: ProgramInput) => {
    open.write(input ?? '');
    open.end();
  };
  let failure = '';
  try {
    for (const [at, [first, ...pipe]] of pipes.entries()) {
      if (!first) continue;
      const outcome = await session.environment.run({
        ...first,
        pipe,
        cwd: folder,
        signal,
        lasts: true,
        onLine: context.progress,
        timeoutMs: Math.max(1, until - performance.now()),
        keepBytes,
        sink,
        takeInput: at === 0 && input !== undefined ? giveInput : context.takeInput,
      });
      const line = pipes.flat().length > 1 ? ([first, ...pipe][outcome.stage ?? 0]?.line ?? '') : '';
      failure = failureOf(outcome, line, at < pipes.length - 1);
      if (failure !== '') break;
    }
  } finally {
    sink.end();
    kept?.ended();
  }
  const stored = session.outputs.find(context.client, sink.handle);
  const printed = tail === undefined ? headAndTailOf(stored) : tailOf(stored, tail);
  const notes = kept?.note === undefined ? [] : [`[${kept.note}]`];
  const said = [failure, printed || (failure === '' ? 'done, no output' : ''), ...notes];
  const shown = said.filter((part) => part !== '').join('\n');
  return { content: [{ type: 'text', text: shown }], ...(failure !== '' && { isError: true }) };
}

/** How a pipe failed, as the first line of the answer; empty when it did not. */
function failureOf({ ended, exitCode, durationMs, stderr }: Outcome, line: string, goesOn: boolean): string {
  const from = line === '' ? '' : ` from ${inOneLine(line, 200)}`;
  const rest = goesOn ? '; what stands behind && was not run' : '';
  const seconds = (durationMs / 1000).toFixed(1);
  if (ended === 'timed_out') return `TIMEOUT: ended, with all it had started, after ${seconds} s${rest}`;
  if (ended === 'out_of_memory')
    return `TOO_LARGE: ended, with all it had started, as it held too much memory (budgets.memoryPercent)${rest}`;
  if (ended === 'cancelled') return `CANCELLED: ended, with all it had started, after ${seconds} s${rest}`;
  if (ended === 'not_started')
    return `PROGRAM_NOT_FOUND: could not be started${from}: ${sanitize(stderr.text)}${rest}`;
  if (exitCode === 0) return '';
  return `${exitCode === null ? 'killed by a signal' : `exit ${exitCode}`}${from}${rest}`;
}

function tailOf(output: StoredOutput, count: number): string {
  const shown = lastLines(output, count, inlineLimit);
  const left = output.lineCount - lineCount(shown);
  return left > 0 ? `[${leftOut(left, output)}]\n${shown}` : shown;
}

/** All of what was printed, or its beginning and end. */
function headAndTailOf(output: StoredOutput): string {
  const head: string[] = [];
  let size = 0;
  for (const lines of output.lines(1)) {
    for (const line of lines)
      if (line.kind === 'line') size += (head[head.push(line.text) - 1]?.length ?? 0) + 1;
    if (size > inlineLimit) break;
  }
  if (size <= inlineLimit && head.length >= output.lineCount) return head.join('\n').trimEnd();
  while (size > inlineLimit / 2 && head.length > 1) size -= (head.pop()?.length ?? 0) + 1;
  const tail = lastLines(output, Math.min(2000, output.lineCount - head.length));
  const left = output.lineCount - head.length - lineCount(tail);
  return [...head, ...(left > 0 ? [`[… ${leftOut(left, output)}]`] : []), tail].join('\n').trimEnd();
}

const lineCount = (text: string): number => (text === '' ? 0 : text.split('\n').length);

const leftOut = (count: number, { handle }: StoredOutput): string =>
  `${count.toLocaleString('en')} ${count === 1 ? 'line' : 'lines'} left out; read_output id=${handle} has all`;
