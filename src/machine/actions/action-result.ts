import { tailOf } from '../../core/cut-text.ts';
import type { AnyDiscoverer, RunAction } from '../../core/discoverer.ts';
import { ToolcribError } from '../../core/errors.ts';
import { fitResult } from '../../core/fit-result.ts';
import type { ToolResult } from '../../core/tool.ts';
import type { Collected } from '../output.ts';
import { headAndTail, inlineLimit, presentable, spelledNote, spelledOut } from '../presentable.ts';
import type { Outcome } from '../processes/process.ts';

/** What is known of how a program answers. */
export interface Answers extends Pick<RunAction, 'succeedsWith' | 'parse'> {
  readonly hints?: AnyDiscoverer['hints'] | undefined;
}

/** What is told with a result. */
export interface Telling {
  readonly notes: readonly string[];
  /** By which read_output finds all of what the program printed; undefined when it is not kept. */
  readonly handle?: string | undefined;
}

/** What a run tells the caller: data when the action parses its output, else the text; an error when it did not end well. */
export function programResult(outcome: Outcome, answers: Answers, telling: Telling): ToolResult {
  const { ended, exitCode, stdout } = outcome;
  const { succeedsWith = [0], parse } = answers;
  const isWell = ended === 'exited' && exitCode !== null && succeedsWith.includes(exitCode);
  if (!isWell) return failure(outcome, answers, telling);
  if (!parse) return textResult(outcome, telling);
  if (stdout.omittedBytes === 0) return parsedResult(parse, stdout.text, telling);
  throw new ToolcribError(
    'OUTPUT_LIMIT',
    `The program printed ${stdout.totalBytes} bytes, which is more than is parsed.`,
    `Ask for less: fewer items, or a folder.${wayTo(' ', telling, '.')}`,
  );
}

/** The data in a text, shortened to the size of an answer. Throws OUTPUT_UNREADABLE, and what `parse` throws for the caller. */
export function parsedResult(parse: (text: string) => unknown, text: string, telling: Telling): ToolResult {
  let data: Record<string, unknown>;
  try {
    data = parse(text) as Record<string, unknown>;
  } catch (error) {
    if (error instanceof ToolcribError) throw error;
    throw new ToolcribError(
      'OUTPUT_UNREADABLE',
      `The output was not understood (${error instanceof Error ? error.message : String(error)}):`,
      headAndTail(presentable(text), 2000, 0, wayTo('; ', telling)),
    );
  }
  const { value, omitted, clipped, cleaned } = fitResult(data, inlineLimit, spelledOut);
  const isOmitted = Object.keys(omitted).length > 0;
  const isCut = isOmitted || clipped;
  const notes = [
    ...telling.notes,
    ...(cleaned ? [spelledNote] : []),
    ...(isCut && telling.handle !== undefined ? [wayTo('shortened; ', telling)] : []),
  ];
  return {
    data: { ...value, ...(isOmitted && { omitted }), ...(notes.length > 0 && { notes }) },
    ...metaOf(telling, !isCut),
  };
}

function textResult({ stdout, stderr }: Outcome, telling: Telling): ToolResult {
  const output = cut(presentable(stdout.text).trimEnd(), stdout, inlineLimit, telling);
  const room = Math.max(inlineLimit / 4, inlineLimit - output.text.length);
  const complaint = cut(presentable(stderr.text).trim(), stderr, room, telling);
  // Some programs say everything on standard error, such as the logs of most containers.
  const text = joined([output.text, complaint.text && `[stderr]\n${complaint.text}`, ...noted(telling)]);
  return {
    content: [{ type: 'text', text: text || '[no output]' }],
    ...metaOf(telling, output.isWhole && complaint.isWhole),
  };
}

/** The error with the tail of what the program said. */
function failure(outcome: Outcome, { parse, hints }: Answers, telling: Telling): ToolResult {
  const complaint = presentable(outcome.stderr.text).trim();
  const output = presentable(outcome.stdout.text).trim();
  const tail = end(complaint, outcome.stderr, inlineLimit / 2, telling);
  // What is there to be parsed tells nobody why it failed, unless nothing else was said.
  const isShown = output !== '' && !(parse && complaint !== '');
  const shown = cut(isShown ? output : '', outcome.stdout, inlineLimit / 2, telling);
  const isLeftOut = !isShown && output !== '';
  const text = joined([
    reasonOf(outcome),
    tail.text,
    isShown ? `[stdout]\n${shown.text}` : '',
    isLeftOut && telling.handle !== undefined ? `[stdout was left out${wayTo('; ', telling)}]` : '',
    ...noted(telling),
    hints?.find(({ says }) => says.test(complaint))?.wayOut ?? '',
  ]);
  return {
    isError: true,
    content: [{ type: 'text', text }],
    ...metaOf(telling, tail.isWhole && shown.isWhole && !isLeftOut),
  };
}

function reasonOf({ ended, exitCode, durationMs, command: line }: Outcome): string {
  const seconds = (durationMs / 1000).toFixed(1);
  const command = headAndTail(presentable(line).replaceAll(/\s+/g, ' '), 400);
  return {
    exited: `PROGRAM_FAILED: exit code ${exitCode ?? 'none (killed by a signal)'} from: ${command}`,
    timed_out: `TIMEOUT: stopped, with all it had started, after ${seconds} s: ${command}`,
    cancelled: `CANCELLED: stopped, with all it had started, after ${seconds} s: ${command}`,
    not_started: `PROGRAM_NOT_FOUND: could not be started (toolcrib doctor tells more): ${command}`,
  }[ended];
}

/** What is shown of a text. */
interface Shown {
  readonly text: string;
  readonly isWhole: boolean;
}

/** Head and tail; `collected` may have left something out before. */
function cut(text: string, { omittedBytes }: Collected, most: number, telling: Telling): Shown {
  const shown = headAndTail(text, most, text === '' ? 0 : omittedBytes, wayTo('; ', telling) || ' …');
  return { text: shown, isWhole: shown === text };
}

function end(text: string, { omittedBytes }: Collected, most: number, telling: Telling): Shown {
  if (text.length <= most && omittedBytes === 0) return { text, isWhole: true };
  const tail = tailOf(text, most);
  const omitted = (text.length - tail.length + omittedBytes).toLocaleString('en');
  const where = wayTo('; ', telling) || ' …';
  return { text: `[… ${omitted} characters left out here${where}]\n${tail}`, isWhole: false };
}

/** How to get at all of it, between two texts; nothing when it is not kept. */
const wayTo = (before: string, { handle }: Telling, after = ''): string =>
  handle === undefined ? '' : `${before}read_output output=${handle} has all of it${after}`;

const noted = ({ notes }: Telling): string[] => notes.map((note) => `[${note}]`);

const joined = (parts: readonly string[]): string => parts.filter((part) => part !== '').join('\n');

/** For hosts: where all of it is, when not all was shown. */
const metaOf = ({ handle }: Telling, isWhole: boolean): Pick<ToolResult, 'meta'> =>
  isWhole || handle === undefined ? {} : { meta: { 'toolcrib/output': handle } };
