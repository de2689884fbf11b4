import type { AnyAction, AnyDiscoverer, RunAction } from '../core/discoverer.ts';
import { ToolcribError } from '../core/errors.ts';
import { fitResult } from '../core/fit-result.ts';
import type { ToolResult } from '../core/tool.ts';
import type { Collected } from './output.ts';
import { headAndTail, inlineLimit, presentable } from './presentable.ts';
import type { Outcome } from './process.ts';

/** What is told with a result. */
export interface Telling {
  readonly notes: readonly string[];
  /** By which read_output finds all of what the program printed; undefined when it is not kept. */
  readonly handle?: string | undefined;
}

/** What a successful run tells the caller: data when the action parses its output, else the text or a summary of it. */
export async function actionResult(
  action: AnyAction,
  output: string,
  telling: Telling,
  outcome?: Outcome,
): Promise<ToolResult> {
  if (!action.parse) return textResult(output, outcome, telling);
  if (outcome && outcome.stdout.omittedBytes > 0) {
    throw new ToolcribError(
      'OUTPUT_LIMIT',
      `The program printed ${outcome.stdout.totalBytes} bytes, which is more than is parsed.`,
      `Ask for less: fewer items, or a folder.${wayTo(telling)}`,
    );
  }
  const { value, omitted, clipped } = fitResult(parsed(action, output, telling), inlineLimit, presentable);
  const isOmitted = Object.keys(omitted).length > 0;
  const isCut = isOmitted || clipped;
  const notes = [...telling.notes, ...(isCut ? whole(telling).map((way) => `shortened; ${way}`) : [])];
  return {
    data: { ...value, ...(isOmitted ? { omitted } : {}), ...(notes.length > 0 ? { notes } : {}) },
    ...metaOf(telling, isCut),
  };
}

function parsed(action: AnyAction, output: string, telling: Telling): Record<string, unknown> {
  try {
    return action.parse?.(output) as Record<string, unknown>;
  } catch (error) {
    if (error instanceof ToolcribError) throw error;
    throw new ToolcribError(
      'OUTPUT_UNREADABLE',
      `The output was not understood (${error instanceof Error ? error.message : String(error)}):`,
      headAndTail(presentable(output), 2000, 0, leftOut(telling)),
    );
  }
}

async function textResult(
  output: string,
  outcome: Outcome | undefined,
  telling: Telling,
): Promise<ToolResult> {
  const said = outcome && (await summaryOf(outcome));
  if (said) {
    const text = [said.text, errorTail(outcome), ...summarised(telling), ...told(telling)];
    return { content: [textPart(text)], ...metaOf(telling, true) };
  }
  const plain = presentable(output).trimEnd();
  const out = headAndTail(plain, inlineLimit, outcome?.stdout.omittedBytes, leftOut(telling));
  const complaint = presentable(outcome?.stderr.text ?? '').trim();
  const room = Math.max(inlineLimit / 4, inlineLimit - out.length);
  const shown = headAndTail(complaint, room, outcome?.stderr.omittedBytes, leftOut(telling));
  const text = [
    out,
    // Some programs say everything there, such as the logs of most containers.
    complaint && `[stderr]\n${shown}`,
    ...told(telling),
  ];
  return {
    content: [textPart(text, '[no output]')],
    ...metaOf(telling, out !== plain || shown !== complaint),
  };
}

/**
 * The error a run that did not end well is, with the tail of what it said, or what the report says that it printed;
 * undefined when it ended well.
 */
export async function failureOf(
  outcome: Outcome,
  action: Pick<RunAction, 'succeedsWith' | 'parse'>,
  hints: AnyDiscoverer['hints'],
  telling: Telling,
): Promise<ToolResult | undefined> {
  const { ended, exitCode } = outcome;
  const { succeedsWith = [0], parse } = action;
  if (ended === 'exited' && exitCode !== null && succeedsWith.includes(exitCode)) return undefined;
  const stderr = presentable(outcome.stderr.text).trim();
  const summary = parse ? undefined : await summaryOf(outcome);
  const { text, isWhole } = summary
    ? {
        // When every test passed, the reason is what was said after them.
        text: [
          summary.text,
          errorTail(outcome) || (summary.isBad ? '' : outputTail(outcome)),
          ...summarised(telling),
        ],
        isWhole: false,
      }
    : plainFailure(outcome, parse !== undefined, telling);
  const wayOut = hints?.find(({ says }) => says.test(stderr))?.wayOut ?? '';
  return {
    isError: true,
    content: [textPart([reasonOf(outcome), ...text, ...told(telling), wayOut])],
    ...metaOf(telling, !isWhole),
  };
}

function reasonOf({ ended, exitCode, durationMs, command: line, question }: Outcome): string {
  const seconds = (durationMs / 1000).toFixed(1);
  const command = headAndTail(presentable(line).replaceAll(/\s+/g, ' '), 400);
  return {
    exited: `PROGRAM_FAILED: exit code ${exitCode ?? 'none (killed by a signal)'} from: ${command}`,
    timed_out: `TIMEOUT: stopped, with all it had started, after ${seconds} s: ${command}`,
    asked: `PROGRAM_ASKS: stopped, with all it had started, since nobody could answer ${JSON.stringify(question)}: ${command}`,
    cancelled: `CANCELLED: stopped, with all it had started, after ${seconds} s: ${command}`,
    not_started: `PROGRAM_NOT_FOUND: could not be started (toolcrib doctor tells more): ${command}`,
  }[ended];
}

function plainFailure({ stdout, stderr }: Outcome, isParsed: boolean, telling: Telling) {
  const complaint = presentable(stderr.text).trim();
  const output = presentable(stdout.text).trim();
  const tail = tailOf(complaint, inlineLimit / 2, stderr.omittedBytes, telling);
  // What is there to be parsed tells nobody why it failed, unless nothing else was said.
  const isShown = !(isParsed && complaint !== '');
  const shown = isShown ? headAndTail(output, inlineLimit / 2, stdout.omittedBytes, leftOut(telling)) : '';
  const isWhole = tail === complaint && shown === output;
  const unsaid = isShown || output === '' ? [] : whole(telling).map((way) => `[stdout was left out; ${way}]`);
  return { text: [tail, shown && `[stdout]\n${shown}`, ...unsaid], isWhole };
}

/** What a report says that a program printed, when it printed one. */
async function summaryOf({ stdout }: Outcome): Promise<{ text: string; isBad: boolean } | undefined> {
  const { summarise, tellSummary } = await import('./summaries/summarise.ts');
  const summary = await summarise(presentable(stdout.text), stdout.omittedBytes === 0);
  return summary && { text: tellSummary(summary, inlineLimit / 2), isBad: summary.failureCount > 0 };
}

/** Less than otherwise: with a summary most has been said. */
const shortTail = inlineLimit / 4;

const errorTail = (outcome: Outcome): string => tailUnder('stderr', outcome.stderr);
const outputTail = (outcome: Outcome): string => tailUnder('stdout', outcome.stdout);

function tailUnder(name: string, { text }: Collected): string {
  const said = presentable(text).trim();
  return said === '' ? '' : `[${name}]\n${tailOf(said, shortTail, 0, {})}`;
}

function tailOf(text: string, most: number, omittedBytes: number, telling: Partial<Telling>): string {
  if (text.length <= most && omittedBytes === 0) return text;
  const tail = text.slice(-most).replace(/^[\udc00-\udfff]/, '');
  const omitted = text.length - tail.length + omittedBytes;
  return `[… ${omitted.toLocaleString('en')} characters left out here${leftOut(telling)}]\n${tail}`;
}

const told = ({ notes }: Telling): string[] => notes.map((note) => `[${note}]`);

/** How to get at all of it, when it is kept. */
const whole = ({ handle }: Partial<Telling>): string[] =>
  handle === undefined ? [] : [`read_output output=${handle} has all of it`];

const leftOut = (telling: Partial<Telling>): string => {
  const [way] = whole(telling);
  return way === undefined ? ' …' : `; ${way}`;
};

const summarised = (telling: Telling): string[] => whole(telling).map((way) => `[a summary; ${way}]`);

const wayTo = (telling: Telling): string =>
  whole(telling)
    .map((way) => ` ${way}.`)
    .join('');

/** For hosts: where all of it is, when not all was shown. */
const metaOf = ({ handle }: Telling, isCut: boolean): Pick<ToolResult, 'meta'> =>
  isCut && handle !== undefined ? { meta: { 'toolcrib/output': handle } } : {};

const textPart = (parts: readonly string[], otherwise = '') =>
  ({ type: 'text', text: parts.filter((part) => part !== '').join('\n') || otherwise }) as const;
