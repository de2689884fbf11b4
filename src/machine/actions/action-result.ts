import type { AnyDiscoverer, RunAction } from '../../core/discoverer.ts';
import { ToolcribError } from '../../core/errors.ts';
import { fitResult } from '../../core/fit-result.ts';
import type { ToolResult } from '../../core/tool.ts';
import type { Collected } from '../output.ts';
import { headAndTail, inlineLimit, presentable, spelledOut } from '../presentable.ts';
import type { Outcome } from '../processes/process.ts';

/** What is known of how a program answers. */
export interface Answers extends Pick<RunAction, 'succeedsWith' | 'parse'> {
  readonly hints?: AnyDiscoverer['hints'] | undefined;
}

/** What is told with a result. */
export interface Telling {
  /** The command line as a person would type it. */
  readonly command: string;
  readonly notes: readonly string[];
  /** By which read_output finds all of what the program printed; undefined when it is not kept. */
  readonly handle?: string | undefined;
}

/** What a run tells the caller: data when the action parses its output, else the text; or an error. */
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

/** Data shortened to an answer, with notes beside it; `whole` says where all of it is, and is asked when it was cut. */
export function dataResult(
  data: Readonly<Record<string, unknown>>,
  notes: readonly string[],
  whole: () => string,
): ToolResult {
  const { value, omitted, clipped, cleaned } = fitResult(data, inlineLimit, spelledOut);
  const isOmitted = Object.keys(omitted).length > 0;
  const where = isOmitted || clipped ? whole() : '';
  const spelled = cleaned ? 'characters that cannot be seen are written as \\u and their number' : '';
  const all = [...notes, spelled, where].filter((note) => note !== '');
  return { data: { ...value, ...(isOmitted && { omitted }), ...(all.length > 0 && { notes: all }) } };
}

/** The data in a text, shortened to an answer. Throws OUTPUT_UNREADABLE, and what `parse` throws for the caller. */
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
  return dataResult(data, telling.notes, () => wayTo('shortened; ', telling));
}

function textResult({ stdout, stderr }: Outcome, telling: Telling): ToolResult {
  const output = cut(presentable(stdout.text).trimEnd(), stdout, inlineLimit, telling);
  const room = Math.max(inlineLimit / 4, inlineLimit - output.length);
  const complaint = cut(presentable(stderr.text).trim(), stderr, room, telling);
  // Some programs say everything on standard error, such as the logs of most containers.
  const text = joined([output, complaint && `[stderr]\n${complaint}`, ...noted(telling)]);
  return { content: [{ type: 'text', text: text || '[no output]' }] };
}

/** The error with what the program said. */
function failure(outcome: Outcome, { parse, hints }: Answers, telling: Telling): ToolResult {
  const complaint = presentable(outcome.stderr.text).trim();
  const output = presentable(outcome.stdout.text).trim();
  // What is there to be parsed tells nobody why it failed, unless nothing else was said.
  const isShown = !(parse && complaint !== '');
  const shown = isShown ? cut(output, outcome.stdout, inlineLimit / 2, telling) : '';
  const isLeftOut = !isShown && output !== '' && telling.handle !== undefined;
  const text = joined([
    reasonOf(outcome, telling.command),
    cut(complaint, outcome.stderr, inlineLimit / 2, telling),
    shown && `[stdout]\n${shown}`,
    isLeftOut ? `[stdout was left out${wayTo('; ', telling)}]` : '',
    ...noted(telling),
    hints?.find(({ says }) => says.test(complaint))?.wayOut ?? '',
  ]);
  return { isError: true, content: [{ type: 'text', text }] };
}

function reasonOf({ ended, exitCode, durationMs }: Outcome, line: string): string {
  const seconds = (durationMs / 1000).toFixed(1);
  const command = headAndTail(presentable(line).replaceAll(/\s+/g, ' '), 400);
  return {
    exited: `PROGRAM_FAILED: exit code ${exitCode ?? 'none (killed by a signal)'} from: ${command}`,
    timed_out: `TIMEOUT: stopped, with all it had started, after ${seconds} s: ${command}`,
    cancelled: `CANCELLED: stopped, with all it had started, after ${seconds} s: ${command}`,
    not_started: `PROGRAM_NOT_FOUND: could not be started (toolcrib doctor tells more): ${command}`,
  }[ended];
}

/** Head and tail of a text, of which something may have been left out before. */
const cut = (text: string, { omittedBytes }: Collected, most: number, telling: Telling): string =>
  headAndTail(text, most, text === '' ? 0 : omittedBytes, wayTo('; ', telling) || ' …');

/** How to get at all of it, between two texts; nothing when it is not kept. */
const wayTo = (before: string, { handle }: Telling, after = ''): string =>
  handle === undefined ? '' : `${before}read_output output=${handle} has all of it${after}`;

const noted = ({ notes }: Telling): string[] => notes.map((note) => `[${note}]`);

const joined = (parts: readonly string[]): string => parts.filter((part) => part !== '').join('\n');
