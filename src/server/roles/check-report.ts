import type { ToolResult } from '../../core/tool.ts';
import { textOf } from '../../core/tool.ts';
import { headOf, tailOf } from '../../core/cut-text.ts';
import type { Kind, Problem, Since } from './check-memory.ts';

/** One thing that was checked, and how. */
export interface Checked {
  readonly kind: Kind;
  readonly program: string;
  /** A script of the project, of whose answer only the exit code is known. */
  readonly isScript: boolean;
  readonly subject: string;
  readonly result: ToolResult;
  /** Undefined where it has no report. */
  readonly problems: readonly Problem[] | undefined;
  readonly since: Since | undefined;
}

/** What all messages of a check may take together, and one of them, in characters. */
const allMessages = 1400;
const [leastMessage, longestMessage] = [80, 700];
/** Diagnostics that are shown; every test that failed is named. */
const mostShown = 40;
/** What is shown of what a script said last when all is well. */
const tailLength = 200;

/** What was found: a line for each that is green, and what failed of the others. */
export const told = (all: readonly Checked[]): string => all.map(oneTold).join('\n');

function oneTold(one: Checked): string {
  const { problems } = one;
  if (!problems) return asItIs(one);
  const shown = problems.toSorted((a, b) => rank(a, one.since) - rank(b, one.since));
  const errors = problems.filter(({ level }) => level === 'error').length;
  // A project with one error has no use for its thousand warnings.
  const listed = shown.filter(({ level }) => level === 'error' || errors === 0);
  const room = Math.max(leastMessage, Math.min(longestMessage, allMessages / Math.max(1, listed.length)));
  const most = one.kind === 'test' ? listed.length : mostShown;
  const left = listed.length - most;
  return [
    `${one.kind}: ${countOf(one, problems)} (${one.program})${changeOf(one.since)}`,
    ...listed.slice(0, most).map((problem) => lineOf(problem, room, one.since)),
    ...(left > 0 ? [`… ${left} more; only=["FILE"] shows those of a file`] : []),
    ...notesOf(one.result),
  ].join('\n');
}

const levels = ['error', 'warning', 'info'];
const rank = ({ id, level }: Problem, since: Since | undefined): number =>
  levels.indexOf(level) * 2 + (since?.new.has(id) ? 0 : 1);

function countOf({ kind, result }: Checked, problems: readonly Problem[]): string {
  const { passed, failed = 0, skipped = 0 } = (result.data ?? {}) as Partial<Record<string, number>>;
  if (passed === 0 && failed === 0) return `no test ran, ${skipped} skipped: is there one of that name?`;
  if (passed !== undefined)
    return [
      ...(failed > 0 ? [`${failed} failed`] : []),
      `${passed} passed`,
      ...(skipped > 0 ? [`${skipped} skipped`] : []),
    ].join(', ');
  if (problems.length === 0) return kind === 'build' ? 'built' : 'ok';
  const many = (level: Problem['level']) => problems.filter((one) => one.level === level).length;
  return levels
    .map((level) => ({ level, count: many(level as Problem['level']) }))
    .filter(({ count }) => count > 0)
    .map(({ level, count }) => `${count} ${level}${count > 1 && level !== 'info' ? 's' : ''}`)
    .join(', ');
}

function changeOf(since: Since | undefined): string {
  const parts = [
    ...(since && since.fixed > 0 ? [`${since.fixed} fixed`] : []),
    ...(since && since.new.size > 0 ? [`${since.new.size} new`] : []),
  ];
  return parts.length > 0 ? `; ${parts.join(', ')} since last time` : '';
}

function lineOf({ id, file, line, name, message }: Problem, room: number, since: Since | undefined): string {
  const place = [file, line].filter((part) => part !== undefined).join(':');
  const isNew = since?.new.has(id) ? 'new: ' : '';
  const says = shortened(
    message
      .replace(/^\s*(?:Assertion)?Error: /, '')
      .trim()
      .replaceAll(/\n\s*\n/g, '\n'),
    room,
  );
  // What `only` takes may begin with the file: once is enough.
  const called = file !== undefined && name?.startsWith(`${file}::`) ? name.slice(file.length) : name;
  const head = [isNew + place, called].filter(Boolean).join(' ');
  if (name === undefined) return `${head} ${says}`;
  return `${head}\n${says.replaceAll(/^/gm, '  ')}`;
}

function lastLines(text: string): string {
  const last = tailOf(text, tailLength);
  return last.length < text.length ? last.replace(/^[^\n]*\n/, '') : text;
}

/** Its beginning and its end, where that is much less. */
function shortened(message: string, room: number): string {
  if (message.length <= room * 1.25) return message;
  return `${headOf(message, room / 2)} … ${tailOf(message, room / 2)}`;
}

/** Notes in brackets that the action has put behind its own text. */
const notesOf = (result: ToolResult): string[] =>
  textOf(result)
    .split('\n')
    .filter((line) => /^\[(?:checkpoint|no checkpoint|.*read_output)/.test(line));

/** What has no report that can be read: what it said last. */
function asItIs({ kind, isScript, result, subject }: Checked): string {
  const text = textOf(result).trim();
  if (result.isError) return `${kind}: ${text}`;
  // A runner that finds no tests is content.
  const how = kind === 'test' && !isScript ? 'ended well, but reported no test' : 'passed';
  return `${kind}: ${how} (${subject})\n${lastLines(text)}`;
}
