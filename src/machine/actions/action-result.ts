import { isAbsolute, relative } from 'node:path';
import { ToolcribError } from '../../core/errors.ts';
import type { Program } from '../../core/program.ts';
import type { Output, Report } from '../../core/report.ts';
import type { Result } from '../../core/tool.ts';
import type { Collected } from '../output.ts';
import { isInside } from '../paths/inside.ts';
import { headAndTail, inlineLimit, sanitize } from '../sanitize.ts';
import type { Outcome } from '../processes/process.ts';

/** The ways in which a program answers. */
export interface OutputReading {
  /** Exit codes that are an answer; [0] when left out. */
  readonly ok?: readonly number[] | undefined;
  readonly report?: Report | undefined;
  readonly hints?: Program['hints'] | undefined;
  /** Gets what a report may be read from beside what was printed; asked for when there is an answer. */
  readonly rest?: () => Promise<Pick<Output, 'files' | 'after' | 'values'>>;
}

/** The facts of a run that are told with its result. */
export interface RunDetails {
  /** The command line as a person would type it. */
  readonly command: string;
  /** The folder that it ran in. */
  readonly folder?: string;
  readonly notes: readonly string[];
  /** The handle by which read_output finds all that was printed; undefined when it is not kept. */
  readonly handle?: string | undefined;
}

/** The result of a run for its caller: its report when that can be read, else what it said; or an error. */
export async function programResult(
  outcome: Outcome,
  answers: OutputReading,
  details: RunDetails,
): Promise<Result> {
  const { ended, exitCode, stdout, stderr } = outcome;
  const { ok = [0], report, rest } = answers;
  if (ended !== 'exited' || exitCode === null || !ok.includes(exitCode))
    return failure(outcome, answers, details);
  const isWhole = stdout.omittedBytes === 0 && stderr.omittedBytes === 0;
  if (report && isWhole) {
    const more = (await rest?.()) ?? { files: {}, after: {}, values: {} };
    const output = { stdout: stdout.text, stderr: stderr.text, exitCode, ...more };
    const read = readReport(report, output, details.folder);
    if (read !== undefined) {
      const result = reported(report, read, read.total === 0 ? stderr.text : '', details);
      return exitCode === 0 ? result : { ...result, data: { ...result.data, exitCode } };
    }
  }
  // The words of a program are worth more than why they were not understood; and a failure that says nothing,
  // or nothing that is known, is one, whatever its exit code may mean.
  const isAnswer = exitCode === 0 || (!report && stdout.text.trim() !== '');
  return isAnswer ? textResult(outcome, details, report) : failure(outcome, answers, details);
}

type ReportData = Readonly<Record<string, unknown>> & {
  readonly total?: number;
  readonly passed?: number;
  readonly failed?: number;
};

/** The words of programs for what went wrong; a warning is no complaint, nor is that there are none. */
const complaint = new RegExp(
  String.raw`^(?!\s*\[?(?:warn|note|info|debug|hint|deprecat))(?!.*\b(?:0|no) (?:error|fail))` +
    String.raw`.*\b(?:error|fatal|panic|exception|traceback|fail(?:ed|ure)?|cannot|can't|could ?n[o']t|` +
    String.raw`unable|` +
    String.raw`denied|refused|not found|no such|invalid|unreachable|timed out)\b`,
  'im',
);

/**
 * A report; undefined where it was not understood, or says nothing. Throws what readers throw for the caller.
 */
function readReport(report: Report, output: Output, folder: string | undefined): ReportData | undefined {
  try {
    const read = report.read(output) as ReportData;
    if (isHollow(read, output)) return undefined;
    const lists = ['items', 'failures'].filter((name) => Array.isArray(read[name]));
    return folder === undefined || lists.length === 0 ? read : fromFolder(read, lists, folder);
  } catch (error) {
    if (error instanceof ToolcribError) throw error;
    return undefined;
  }
}

/**
 * Nothing found, while the program failed or complains: that is no "none". Nor is a text of nothing an
 * answer.
 */
function isHollow(read: ReportData | string, { exitCode, stderr }: Output): boolean {
  if (typeof read === 'string') return read.trim() === '';
  const isGreen = read.total === 0 || read.failed === 0;
  const isNothing = read.total === 0 || (read.failed === 0 && read.passed === 0);
  return (isGreen && exitCode !== 0) || (isNothing && complaint.test(stderr));
}

/** Files of the folder are named from there: many programs print them whole. */
function fromFolder(read: ReportData, lists: readonly string[], folder: string): ReportData {
  const short = (one: unknown) => {
    const { file } = one as { file?: unknown };
    if (typeof file !== 'string' || !isAbsolute(file) || !isInside(file, folder)) return one;
    return { ...(one as object), file: relative(folder, file) };
  };
  const shortened = lists.map((name) => [name, (read[name] as unknown[]).map(short)]);
  return { ...read, ...Object.fromEntries(shortened) };
}

/** A report as text, with what it was made of as data. */
export function reported(report: Report, found: unknown, beside: string, details: RunDetails): Result {
  const shown = sanitize(report.show(found as never)).trimEnd();
  const text = shown.length > inlineLimit ? headAndTail(shown, inlineLimit, 0, wayTo(details)) : shown;
  const said = joined([text || saidNothing, sanitize(beside).trim()], details);
  const content = [{ type: 'text' as const, text: said }];
  return typeof found === 'object' ? { content, data: found as ReportData } : { content };
}

/** No answer at all would be none. */
export const saidNothing = 'done; it said nothing';

/**
 * The result of what has no report, or none that can be read: `data` tells which, and the exit code of a
 * failure.
 */
function textResult({ stdout, stderr, exitCode }: Outcome, details: RunDetails, report?: Report): Result {
  const isUnread = report !== undefined && report.kind !== 'text';
  const word = isUnread ? `no ${report.kind} could be read from what it said` : '';
  const output = cut(sanitize(stdout.text).trimEnd(), stdout, inlineLimit, details);
  const room = Math.max(inlineLimit / 4, inlineLimit - output.length);
  const complaint = cut(sanitize(stderr.text).trim(), stderr, room, details);
  // Some programs say everything on standard error, such as the logs of most containers.
  const text = joined([word, output, complaint && `[stderr]\n${complaint}`], details);
  const data = { ...(exitCode !== 0 && { exitCode }), ...(isUnread && { isUnread }) };
  const content = [{ type: 'text' as const, text: text || saidNothing }];
  return Object.keys(data).length > 0 ? { content, data } : { content };
}

/** The error with what the program said. */
function failure(outcome: Outcome, { report, hints }: OutputReading, details: RunDetails): Result {
  const complaint = sanitize(outcome.stderr.text).trim();
  const output = sanitize(outcome.stdout.text).trim();
  // Output that is there to be parsed tells nobody why it failed, unless nothing else was said.
  const isShown = !(report && complaint !== '');
  const shown = isShown ? cut(output, outcome.stdout, inlineLimit / 2, details) : '';
  const isLeftOut = !isShown && output !== '' && details.handle !== undefined;
  const said = [
    reasonOf(outcome, details.command),
    cut(complaint, outcome.stderr, inlineLimit / 2, details),
    shown && `[stdout]\n${shown}`,
    isLeftOut ? `[stdout was left out${wayTo(details)}]` : '',
  ];
  const wayOut = hints?.find(({ says }) => says.test(complaint || output))?.wayOut ?? '';
  const text = [joined(said, details), wayOut].filter((part) => part !== '').join('\n');
  return { isError: true, content: [{ type: 'text', text }] };
}

function reasonOf({ ended, exitCode, durationMs }: Outcome, line: string): string {
  const seconds = (durationMs / 1000).toFixed(1);
  const whole = sanitize(line).replaceAll(/\s+/g, ' ');
  // The beginning and the end tell which call it was; what is between keeps programs quiet.
  const command = whole.length > 120 ? `${whole.slice(0, 50)} … ${whole.slice(-60)}` : whole;
  return {
    exited: `PROGRAM_FAILED: exit code ${exitCode ?? 'none (killed by a signal)'} from: ${command}`,
    timed_out: `TIMEOUT: stopped, with all it had started, after ${seconds} s: ${command}`,
    out_of_memory: `TOO_LARGE: stopped, with all it had started, as it held too much memory: ${command}`,
    cancelled: `CANCELLED: stopped, with all it had started, after ${seconds} s: ${command}`,
    not_started: `PROGRAM_NOT_FOUND: could not be started (toolcrib doctor tells more): ${command}`,
  }[ended];
}

/** Head and tail of a text, of which something may have been left out before. */
const cut = (text: string, { omittedBytes }: Collected, most: number, details: RunDetails): string =>
  headAndTail(text, most, text === '' ? 0 : omittedBytes, wayTo(details));

/** The way to all of an output; a mark of what is missing when it is not kept. */
const wayTo = ({ handle }: RunDetails): string =>
  handle === undefined ? ' …' : `; read_output id=${handle} has all of it`;

/** The parts that say something, with the notes below them. */
const joined = (parts: readonly string[], { notes }: RunDetails): string =>
  [...parts.filter((part) => part !== ''), ...notes.map((note) => `[${note}]`)].join('\n');
