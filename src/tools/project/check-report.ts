import { isAbsolute, relative, resolve, sep } from 'node:path';
import { headOf, tailOf } from '../../core/cut-text.ts';
import { textOf, type Result } from '../../core/tool.ts';
import { allFormatted } from '../../discoverers/reports/readers.ts';
import type { Problem } from '../../machine/session.ts';
import { saidNothing } from '../../machine/actions/action-result.ts';

/** The kinds of checks. */
export const checkKinds = ['test', 'lint', 'types', 'build', 'format'] as const;
export type CheckKind = (typeof checkKinds)[number];

/** A check that has run, with what the report of it needs. */
export interface CheckOutcome {
  readonly kind: CheckKind;
  readonly program: string;
  /** A script of the project did the check, so that only its exit code is known. */
  readonly isScript: boolean;
  readonly subject: string;
  readonly result: Result;
  /** The problems reported; undefined without a report that can be read. */
  readonly problems: readonly Problem[] | undefined;
  /** The number of problems of the last check that are gone. */
  readonly fixed: number;
}

/**
 * The problems in a result: failed tests or diagnostics; undefined when it has no report. Programs name files
 * absolutely or from the folder that they run in; here they are named from the root.
 */
export function problemsOf(
  { data, isError }: Result,
  folder: string,
  root: string,
): readonly Problem[] | undefined {
  if (isError || !data) return undefined;
  const fromRoot = (file: string): string => {
    const path = relative(root, resolve(folder, file));
    return path.startsWith('..') || isAbsolute(path) ? file : path;
  };
  const { failures, items } = data as {
    failures?: readonly Omit<Problem, 'id' | 'level'>[];
    items?: readonly (Omit<Problem, 'id'> & { readonly code?: string; readonly column?: number })[];
  };
  const shorten = (text: string) => text.replaceAll(`${root}${sep}`, '');
  const withShortPaths = <P extends { readonly file?: string; readonly message: string }>(problem: P) => ({
    ...problem,
    ...(problem.file !== undefined && { file: fromRoot(problem.file) }),
    message: shorten(problem.message),
  });
  if (failures)
    return failures.map((failure) => ({
      ...withShortPaths(failure),
      id: failure.name ?? '',
      level: 'error' as const,
    }));
  return items?.map(({ code, ...item }) => ({
    ...withShortPaths(item),
    id: JSON.stringify([item.file, code, item.message]),
    message: shorten(code === undefined ? item.message : `${item.message} [${code}]`),
  }));
}

/** Characters that all messages of a check share, and the least and the most that one of them gets. */
const allMessages = 1400;
const [leastMessage, longestMessage] = [80, 700];
/** Diagnostics that are shown at most. Failed tests are not limited: each of them is named. */
const mostShown = 40;
/** Characters shown from the end of the output of a script that passed. */
const tailLength = 200;

/** Formats the outcomes of checks: a line for each that passed, and the failures of the others. */
export const formatChecks = (outcomes: readonly CheckOutcome[]): string =>
  outcomes.map(formatCheck).join('\n');

function formatCheck(outcome: CheckOutcome): string {
  const { problems } = outcome;
  if (!problems) return formatWithoutReport(outcome);
  const sorted = problems.toSorted((a, b) => rank(a) - rank(b));
  const errors = problems.filter(({ level }) => level === 'error').length;
  // Beside errors, warnings only take room.
  const listed = sorted.filter(({ level }) => level === 'error' || errors === 0);
  const room = Math.max(leastMessage, Math.min(longestMessage, allMessages / Math.max(1, listed.length)));
  const most = outcome.kind === 'test' ? listed.length : mostShown;
  const omitted = listed.length - most;
  const added = problems.filter(({ isNew }) => isNew).length;
  const { kind, program, fixed } = outcome;
  const change = [fixed > 0 && `${fixed} fixed`, added > 0 && `${added} new`].filter(Boolean);
  const since = change.length > 0 ? `; ${change.join(', ')} since last time` : '';
  return [
    `${kind}: ${countOf(outcome, problems)} (${program})${since}`,
    ...listed.slice(0, most).map((problem) => lineOf(problem, room)),
    ...(omitted > 0 ? [`… ${omitted} more; only=["FILE"] shows those of a file`] : []),
    ...notesOf(outcome.result),
  ].join('\n');
}

const levels = ['error', 'warning', 'info'];
const rank = ({ level, isNew }: Problem): number => levels.indexOf(level) * 2 + (isNew ? 0 : 1);

function countOf({ kind, result }: CheckOutcome, problems: readonly Problem[]): string {
  const { passed, failed = 0, skipped = 0 } = (result.data ?? {}) as Partial<Record<string, number>>;
  if (passed === 0 && failed === 0) return `no test ran, ${skipped} skipped: is there one of that name?`;
  if (passed !== undefined)
    return [failed > 0 && `${failed} failed`, `${passed} passed`, skipped > 0 && `${skipped} skipped`]
      .filter(Boolean)
      .join(', ');
  if (problems.length === 0) return kind === 'build' ? 'built' : 'ok';
  return levels
    .map((level) => ({ level, count: problems.filter((problem) => problem.level === level).length }))
    .filter(({ count }) => count > 0)
    .map(({ level, count }) => `${count} ${level}${count > 1 && level !== 'info' ? 's' : ''}`)
    .join(', ');
}

function lineOf({ file, line, name, message, isNew }: Problem, room: number): string {
  const location = [file, line].filter((part) => part !== undefined).join(':');
  const text = shortened(
    message
      .replace(/^\s*(?:Assertion)?Error: /, '')
      .trim()
      .replaceAll(/\n\s*\n/g, '\n'),
    room,
  );
  // The name of a test may begin with its file, which stands before it already.
  const shortName = file !== undefined && name?.startsWith(`${file}::`) ? name.slice(file.length) : name;
  const head = [`${isNew ? 'new: ' : ''}${location}`, shortName].filter(Boolean).join(' ');
  if (name === undefined) return `${head} ${text}`;
  return `${head}\n${text.replaceAll(/^/gm, '  ')}`;
}

function lastLines(text: string, most: number): string {
  const last = tailOf(text, most);
  return last.length < text.length ? last.replace(/^[^\n]*\n/, '') : text;
}

/** The beginning and the end of a message that is much longer than the room for it. */
function shortened(message: string, room: number): string {
  if (message.length <= room * 1.25) return message;
  return `${headOf(message, room / 2)} … ${tailOf(message, room / 2)}`;
}

/** The notes in brackets that a call adds behind the output of its program. */
const notesOf = (result: Result): string[] =>
  textOf(result)
    .split('\n')
    .filter((line) => /^\[(?:checkpoint|no checkpoint|.*read_output)/.test(line));

/** Formats a check without a report that can be read: its exit code and the end of its output. */
function formatWithoutReport({ kind, isScript, result, subject }: CheckOutcome): string {
  const text = textOf(result).trim();
  if (result.isError) return `${kind}: ${text}`;
  const { exitCode = 0, isUnread } = (result.data ?? {}) as { exitCode?: number; isUnread?: boolean };
  // Runners that find no tests end with exit code 0, too.
  const doubt = kind === 'test' ? 'reported no test' : 'its answer could not be read';
  let verdict = isUnread && !isScript ? `ended well, but ${doubt}` : 'passed';
  if (exitCode !== 0) verdict = `not passed, exit code ${exitCode}`;
  const output = text.replace(new RegExp(`^(?:${saidNothing}|${allFormatted})\n?`), '');
  const last = lastLines(output, exitCode === 0 ? tailLength : allMessages);
  return `${kind}: ${verdict} (${subject})${last === '' ? '' : `\n${last}`}`;
}
