import * as z from 'zod';
import { also, unlisted } from '../core/accepted.ts';
import type { OutputSink, Plan, Result } from '../core/tool.ts';
import { printable } from '../core/command-line.ts';
import type { StoredOutput } from '../machine/output-store/kept-output.ts';
import { inlineLimit, sanitize } from '../machine/sanitize.ts';
import type { Outcome } from '../machine/processes/process.ts';
import { longestMs } from '../machine/actions/run-action.ts';
import { defineTool, type ToolCallContext } from './define-tool.ts';
import { toOneLine, lastLines } from './output/job-text.ts';
import { planLine, type PreparedLine } from './run/plan-line.ts';

/** Characters of an input: a longer one belongs into a file. */
const mostCharacters = 100_000;
const isTooLong =
  `is too long: expected at most ${mostCharacters.toLocaleString('en')} characters. Put it into a file, ` +
  'and pipe that in: cat FILE | PROGRAM';

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
  input: also(
    z.string().min(1).max(mostCharacters, isTooLong).describe('Standard input').optional(),
    'stdin',
  ),
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
 * Runs programs without a shell. Lines that are not everyday ones are asked about, even in a trusted folder.
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
  // Nothing is known about what a command line does.
  effects: ['write', 'execute', 'network', 'publish', 'destroy'],
  params,
  async plan(request, context): Promise<Plan<PreparedLine & { request: RunParams }>> {
    const plan = await planLine(request, context);
    return { ...plan, background: request.background, work: { ...plan.work, request } };
  },
  run: ({ work }, context) => runLine(work, work.request, context),
});

/**
 * Bytes kept of each stream, for the message of a program that could not be started; the sink keeps
 * everything.
 */
const keepBytes = 4096;
/** Lines that one answer has from the end of an output. */
const mostTailLines = 2000;

async function runLine(line: PreparedLine, request: RunParams, context: ToolCallContext): Promise<Result> {
  const { signal, workspace, session } = context;
  const { folder, command } = line;
  const checkpoint = await session.checkpoints?.take(folder, command, workspace, signal);
  const sink = context.keepOutput(command, folder);
  let failure = '';
  try {
    failure = await runPipes(line, request, sink, context);
  } finally {
    sink.end();
    checkpoint?.ended();
  }
  const output = session.outputs.find(context.client, sink.handle);
  const printed = request.tail === undefined ? headAndTailOf(output) : tailOf(output, request.tail);
  const notes = checkpoint?.note === undefined ? [] : [`[${checkpoint.note}]`];
  const parts = [failure, printed || (failure === '' ? 'done, no output' : ''), ...notes];
  const text = parts.filter((part) => part !== '').join('\n');
  return { content: [{ type: 'text', text }], ...(failure !== '' && { isError: true }) };
}

/** Runs the pipes of a line until one fails, and describes the failure; empty when all succeed. */
async function runPipes(
  { folder, pipes }: PreparedLine,
  { input, timeout, timeout_ms }: RunParams,
  sink: OutputSink,
  context: ToolCallContext,
): Promise<string> {
  const limitMs = timeout_ms ?? (timeout === undefined ? longestMs : timeout * 1000);
  const until = performance.now() + Math.min(limitMs, longestMs);
  for (const [at, [first, ...rest]] of pipes.entries()) {
    if (!first) continue;
    const outcome = await context.session.environment.run({
      ...first,
      pipe: rest,
      cwd: folder,
      signal: context.signal,
      lasts: true,
      onLine: context.progress,
      timeoutMs: Math.max(1, until - performance.now()),
      keepBytes,
      sink,
      wholeInput: at === 0 ? input : undefined,
      takeInput: context.takeInput,
    });
    const failed = [first, ...rest][outcome.stage ?? 0];
    // A single program need not be named.
    const name = pipes.flat().length > 1 ? (failed?.line ?? '') : '';
    const failure = describeFailure(outcome, name, at < pipes.length - 1);
    if (failure !== '') return failure;
  }
  return '';
}

/** Describes the failure of a pipe in the first line of the answer; empty when it succeeded. */
function describeFailure(
  { ended, exitCode, durationMs, stderr }: Outcome,
  program: string,
  hasMore: boolean,
): string {
  const from = program === '' ? '' : ` from ${toOneLine(program, 200)}`;
  const rest = hasMore ? '; what stands behind && was not run' : '';
  const seconds = (durationMs / 1000).toFixed(1);
  if (ended === 'timed_out') return `TIMEOUT: ended, with all it had started, after ${seconds} s${rest}`;
  if (ended === 'out_of_memory')
    return (
      'TOO_LARGE: ended, with all it had started, as it held too much memory ' +
      `(budgets.memoryPercent)${rest}`
    );
  if (ended === 'cancelled') return `CANCELLED: ended, with all it had started, after ${seconds} s${rest}`;
  if (ended === 'not_started')
    return `PROGRAM_NOT_FOUND: could not be started${from}: ${sanitize(stderr.text)}${rest}`;
  if (exitCode === 0) return '';
  return `${exitCode === null ? 'killed by a signal' : `exit ${exitCode}`}${from}${rest}`;
}

/** The last lines of an output, below a note on the number of those left out. */
function tailOf(output: StoredOutput, count: number): string {
  const shown = lastLines(output, count, inlineLimit);
  const omitted = output.lineCount - lineCount(shown);
  return omitted > 0 ? `[${omissionNote(omitted, output)}]\n${shown}` : shown;
}

/** The whole output, or its beginning and its end when that is too long for an answer. */
function headAndTailOf(output: StoredOutput): string {
  const head: string[] = [];
  let size = 0;
  for (const lines of output.lines(1)) {
    for (const line of lines) {
      if (line.kind !== 'line') continue;
      head.push(line.text);
      size += line.text.length + 1;
    }
    if (size > inlineLimit) break;
  }
  if (size <= inlineLimit && head.length >= output.lineCount) return head.join('\n').trimEnd();
  while (size > inlineLimit / 2 && head.length > 1) {
    const dropped = head.pop() ?? '';
    size -= dropped.length + 1;
  }
  const tail = lastLines(output, Math.min(mostTailLines, output.lineCount - head.length));
  const omitted = output.lineCount - head.length - lineCount(tail);
  const note = omitted > 0 ? [`[… ${omissionNote(omitted, output)}]`] : [];
  return [...head, ...note, tail].join('\n').trimEnd();
}

const lineCount = (text: string): number => (text === '' ? 0 : text.split('\n').length);

function omissionNote(count: number, { handle }: StoredOutput): string {
  const lines = `${count.toLocaleString('en')} ${count === 1 ? 'line' : 'lines'}`;
  return `${lines} left out; read_output id=${handle} has all`;
}
