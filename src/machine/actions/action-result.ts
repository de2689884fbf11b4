import type { AnyDiscoverer, RunAction } from '../../core/discoverer.ts';
import { ToolcribError } from '../../core/errors.ts';
import { tailOf as endOf } from '../../core/cut-text.ts';
import { fitResult } from '../../core/fit-result.ts';
import type { ToolResult } from '../../core/tool.ts';
import type { Collected } from '../output.ts';
import { headAndTail, inlineLimit, presentable, spelledNote, spelledOut } from '../presentable.ts';
import type { Outcome } from '../processes/process.ts';

/** What is told with a result. */
export interface Telling {
  readonly notes: readonly string[];
  /** By which read_output finds all of what the program printed; undefined when it is not kept. */
  readonly handle?: string | undefined;
}

/** What a successful run tells the caller: data when the action parses its output, else the text. */
export function actionResult(
  action: Pick<RunAction, 'parse'>,
  output: string,
  telling: Telling,
  outcome?: Outcome,
): ToolResult {
  if (!action.parse) return textResult(output, outcome, telling);
  if (outcome && outcome.stdout.omittedBytes > 0) {
    throw new ToolcribError(
      'OUTPUT_LIMIT',
      `The program printed ${outcome.stdout.totalBytes} bytes, which is more than is parsed.`,
      `Ask for less: fewer items, or a folder.${wayTo(telling)}`,
    );
  }
  const read = parsed(action, output, telling);
  const { value, omitted, clipped, cleaned } = fitResult(read, inlineLimit, spelledOut);
  const isOmitted = Object.keys(omitted).length > 0;
  const isCut = isOmitted || clipped;
  const notes = [
    ...telling.notes,
    ...(cleaned ? [spelledNote] : []),
    ...(isCut ? whole(telling).map((way) => `shortened; ${way}`) : []),
  ];
  return {
    data: { ...value, ...(isOmitted ? { omitted } : {}), ...(notes.length > 0 ? { notes } : {}) },
    ...metaOf(telling, isCut),
  };
}

function parsed(action: Pick<RunAction, 'parse'>, output: string, telling: Telling): Record<string, unknown> {
  try {
    return action.parse?.(output) as Record<string, unknown>;
  } catch (error) {
    if (error instanceof ToolcribError) throw error;
    throw new ToolcribError(
      'OUTPUT_UNREADABLE',
      `The output was not understood (${error instanceof Error ? error.message : String(error)}):`,
      cut(said(output, 0), 2000, telling),
    );
  }
}

function textResult(output: string, outcome: Outcome | undefined, telling: Telling): ToolResult {
  const plain = said(output, outcome?.stdout.omittedBytes ?? 0, 'trimEnd');
  const out = cut(plain, inlineLimit, telling);
  const complaint = said(outcome?.stderr.text ?? '', outcome?.stderr.omittedBytes ?? 0);
  const room = Math.max(inlineLimit / 4, inlineLimit - out.length);
  const shown = cut(complaint, room, telling);
  const text = [
    out,
    // Some programs say everything there, such as the logs of most containers.
    complaint.text && `[stderr]\n${shown}`,
    ...told(telling),
  ];
  return {
    content: [textPart(text, '[no output]')],
    ...metaOf(telling, out !== plain.text || shown !== complaint.text),
  };
}

/** The error a run that did not end well is, with the tail of what it said; undefined when it ended well. */
export function failureOf(
  outcome: Outcome,
  action: Pick<RunAction, 'succeedsWith' | 'parse'>,
  hints: AnyDiscoverer['hints'],
  telling: Telling,
): ToolResult | undefined {
  const { ended, exitCode } = outcome;
  const { succeedsWith = [0], parse } = action;
  if (ended === 'exited' && exitCode !== null && succeedsWith.includes(exitCode)) return undefined;
  const stderr = said(outcome.stderr.text, outcome.stderr.omittedBytes);
  const { text, isWhole } = plainFailure(outcome, parse !== undefined, telling);
  const wayOut = hints?.find(({ says }) => says.test(stderr.text))?.wayOut ?? '';
  return {
    isError: true,
    content: [textPart([reasonOf(outcome), ...text, ...told(telling), wayOut])],
    ...metaOf(telling, !isWhole),
  };
}

function reasonOf(outcome: Outcome): string {
  const { ended, exitCode, durationMs, command: line } = outcome;
  const seconds = (durationMs / 1000).toFixed(1);
  const command = headAndTail(presentable(line).replaceAll(/\s+/g, ' '), 400);
  return {
    exited: `PROGRAM_FAILED: exit code ${exitCode ?? 'none (killed by a signal)'} from: ${command}`,
    timed_out: `TIMEOUT: stopped, with all it had started, after ${seconds} s: ${command}`,
    cancelled: `CANCELLED: stopped, with all it had started, after ${seconds} s: ${command}`,
    not_started: `PROGRAM_NOT_FOUND: could not be started (toolcrib doctor tells more): ${command}`,
  }[ended];
}

function plainFailure({ stdout, stderr }: Outcome, isParsed: boolean, telling: Telling) {
  const complaint = said(stderr.text, stderr.omittedBytes);
  const output = said(stdout.text, stdout.omittedBytes);
  const tail = tailOf(complaint, inlineLimit / 2, telling);
  // What is there to be parsed tells nobody why it failed, unless nothing else was said.
  const isShown = !(isParsed && complaint.text !== '');
  const shown = isShown ? cut(output, inlineLimit / 2, telling) : '';
  const isWhole = tail === complaint.text && shown === output.text;
  const unsaid =
    isShown || output.text === '' ? [] : whole(telling).map((way) => `[stdout was left out; ${way}]`);
  return { text: [tail, shown && `[stdout]\n${shown}`, ...unsaid], isWhole };
}

function tailOf({ text, omitted: before }: Said, most: number, telling: Partial<Telling>): string {
  if (text.length <= most && before === 0) return text;
  const tail = endOf(text, most);
  const omitted = text.length - tail.length + before;
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

const wayTo = (telling: Telling): string =>
  whole(telling)
    .map((way) => ` ${way}.`)
    .join('');

/** For hosts: where all of it is, when not all was shown. */
const metaOf = ({ handle }: Telling, isCut: boolean): Pick<ToolResult, 'meta'> =>
  isCut && handle !== undefined ? { meta: { 'toolcrib/output': handle } } : {};

const textPart = (parts: readonly string[], otherwise = '') =>
  ({ type: 'text', text: parts.filter((part) => part !== '').join('\n') || otherwise }) as const;

/** What a program said, harmless, perhaps without its middle. */
interface Said {
  readonly text: string;
  /** How much its middle had. */
  readonly omitted: number;
}

/** Of more than twice this only head and tail are looked at: much more than is shown, to have enough without escapes. */
const lookedAt = 128 * 1024;

function said(all: string, omitted: number, trim: 'trim' | 'trimEnd' = 'trim'): Said {
  if (all.length <= 2 * lookedAt) return { text: presentable(all)[trim](), omitted };
  const text = presentable(all.slice(0, lookedAt)) + presentable(all.slice(-lookedAt));
  return { text: text[trim](), omitted: omitted + all.length - 2 * lookedAt };
}

const cut = ({ text, omitted }: Said, most: number, telling: Telling): string =>
  headAndTail(text, most, omitted, leftOut(telling));

/** What is shown of what a program said. */
export const shownOf = ({ text, omittedBytes }: Collected, telling: Telling): string =>
  cut(said(text, omittedBytes), inlineLimit, telling);
