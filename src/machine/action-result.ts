import type { AnyAction, AnyDiscoverer, RunAction } from '../core/discoverer.ts';
import { ToolcribError } from '../core/errors.ts';
import { fitResult } from '../core/fit-result.ts';
import type { ToolResult } from '../core/tool.ts';
import { headAndTail, inlineLimit, presentable } from './presentable.ts';
import type { Outcome } from './process.ts';

/** What a successful run tells the caller: data when the action parses its output, else the text. */
export function actionResult(
  action: AnyAction,
  output: string,
  notes: readonly string[],
  outcome?: Outcome,
): ToolResult {
  if (!action.parse) return textResult(output, outcome, notes);
  if (outcome && outcome.stdout.omittedBytes > 0) {
    throw new ToolcribError(
      'OUTPUT_LIMIT',
      `The program printed ${outcome.stdout.totalBytes} bytes, which is more than is parsed.`,
      'Ask for less: fewer items, or a folder.',
    );
  }
  const { value, omitted } = fitResult(parsed(action, output), inlineLimit, presentable);
  return {
    data: {
      ...value,
      ...(Object.keys(omitted).length > 0 ? { omitted } : {}),
      ...(notes.length > 0 ? { notes } : {}),
    },
  };
}

function parsed(action: AnyAction, output: string): Record<string, unknown> {
  try {
    return action.parse?.(output) as Record<string, unknown>;
  } catch (error) {
    if (error instanceof ToolcribError) throw error;
    throw new ToolcribError(
      'OUTPUT_UNREADABLE',
      `The output was not understood (${error instanceof Error ? error.message : String(error)}):`,
      headAndTail(presentable(output), 2000),
    );
  }
}

function textResult(output: string, outcome: Outcome | undefined, notes: readonly string[]): ToolResult {
  const out = headAndTail(presentable(output).trimEnd(), inlineLimit, outcome?.stdout.omittedBytes);
  const complaint = presentable(outcome?.stderr.text ?? '').trim();
  const parts = [
    out,
    // Some programs say everything there, such as the logs of most containers.
    complaint &&
      `[stderr]\n${headAndTail(complaint, Math.max(inlineLimit / 4, inlineLimit - out.length), outcome?.stderr.omittedBytes)}`,
    ...notes.map((note) => `[${note}]`),
  ].filter((part) => part !== '');
  return { content: [{ type: 'text', text: parts.join('\n') || '[no output]' }] };
}

/** The error a run that did not end well is, with the tail of what it said; undefined when it ended well. */
export function failureOf(
  outcome: Outcome,
  { succeedsWith = [0], parse }: Pick<RunAction, 'succeedsWith' | 'parse'>,
  hints: AnyDiscoverer['hints'],
  notes: readonly string[],
): ToolResult | undefined {
  const { ended, exitCode, durationMs } = outcome;
  if (ended === 'exited' && exitCode !== null && succeedsWith.includes(exitCode)) return undefined;
  const seconds = (durationMs / 1000).toFixed(1);
  const command = headAndTail(outcome.command.replaceAll(/\s+/g, ' '), 400);
  const reason = {
    exited: `PROGRAM_FAILED: exit code ${exitCode ?? 'none (killed by a signal)'} from: ${command}`,
    timed_out: `TIMEOUT: stopped, with all it had started, after ${seconds} s: ${command}`,
    cancelled: `CANCELLED: stopped, with all it had started, after ${seconds} s: ${command}`,
    not_started: `PROGRAM_NOT_FOUND: could not be started (toolcrib doctor tells more): ${command}`,
  }[ended];
  const stdout = presentable(outcome.stdout.text).trim();
  const stderr = presentable(outcome.stderr.text).trim();
  const text = [
    reason,
    stderr && tailOf(stderr, inlineLimit / 2),
    // What is there to be parsed tells nobody why it failed, unless nothing else was said.
    stdout &&
      !(parse && stderr) &&
      `[stdout]\n${headAndTail(stdout, inlineLimit / 2, outcome.stdout.omittedBytes)}`,
    ...notes.map((note) => `[${note}]`),
    hints?.find(({ says }) => says.test(stderr))?.wayOut,
  ];
  return { isError: true, content: [{ type: 'text', text: text.filter(Boolean).join('\n') }] };
}

const tailOf = (text: string, most: number): string =>
  text.length <= most ? text : `[… ${text.length - most} characters left out here …]\n${text.slice(-most)}`;
