import { isAbsolute, relative, resolve, sep } from 'node:path';
import { headOf, tailOf } from '../../core/cut-text.ts';
import { textOf, type Result } from '../../core/tool.ts';
import { allFormatted } from '../../discoverers/reports/readers.ts';
import type { Problem } from '../../machine/session.ts';
import { saidNothing } from '../../machine/actions/action-result.ts';

/** What is checked. */
export const kinds = ['test', 'lint', 'types', 'build', 'format'] as const;
export type CheckKind = (typeof kinds)[number];

/** One thing that was checked, and how. */
export interface Checked {
  readonly kind: CheckKind;
  readonly program: string;
  /** A script of the project, of whose answer only the exit code is known. */
  readonly isScript: boolean;
  readonly subject: string;
  readonly result: Result;
  /** Undefined where it has no report. */
  readonly problems: readonly Problem[] | undefined;
  /** How many there were last time that are gone. */
  readonly fixed: number;
}

/**
 * The problems that a result has, by the kind of its report; undefined when it has no report. Programs name
 * files from where they run, or absolutely; here they are named from the root.
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
  const short = (text: string) => text.replaceAll(`${root}${sep}`, '');
  const named = <P extends { readonly file?: string; readonly message: string }>(one: P) => ({
    ...one,
    ...(one.file !== undefined && { file: fromRoot(one.file) }),
    message: short(one.message),
  });
  if (failures)
    return failures.map((one) => ({ ...named(one), id: one.name ?? '', level: 'error' as const }));
  return items?.map(({ code, ...one }) => ({
    ...named(one),
    id: JSON.stringify([one.file, code, one.message]),
    message: short(code === undefined ? one.message : `${one.message} [${code}]`),
  }));
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
  const shown = problems.toSorted((a, b) => rank(a) - rank(b));
  const errors = problems.filter(({ level }) => level === 'error').length;
  // A project with one error has no use for its thousand warnings.
  const listed = shown.filter(({ level }) => level === 'error' || errors === 0);
  const room = Math.max(leastMessage, Math.min(longestMessage, allMessages / Math.max(1, listed.length)));
  const most = one.kind === 'test' ? listed.length : mostShown;
  const left = listed.length - most;
  const fresh = problems.filter(({ isNew }) => isNew).length;
  const change = [one.fixed > 0 && `${one.fixed} fixed`, fresh > 0 && `${fresh} new`].filter(Boolean);
  const since = change.length > 0 ? `; ${change.join(', ')} since last time` : '';
  return [
    `${one.kind}: ${countOf(one, problems)} (${one.program})${since}`,
    ...listed.slice(0, most).map((problem) => lineOf(problem, room)),
    ...(left > 0 ? [`… ${left} more; only=["FILE"] shows those of a file`] : []),
    ...notesOf(one.result),
  ].join('\n');
}

const levels = ['error', 'warning', 'info'];
const rank = ({ level, isNew }: Problem): number => levels.indexOf(level) * 2 + (isNew ? 0 : 1);

function countOf({ kind, result }: Checked, problems: readonly Problem[]): string {
  const { passed, failed = 0, skipped = 0 } = (result.data ?? {}) as Partial<Record<string, number>>;
  if (passed === 0 && failed === 0) return `no test ran, ${skipped} skipped: is there one of that name?`;
  if (passed !== undefined)
    return [failed > 0 && `${failed} failed`, `${passed} passed`, skipped > 0 && `${skipped} skipped`]
      .filter(Boolean)
      .join(', ');
  if (problems.length === 0) return kind === 'build' ? 'built' : 'ok';
  return levels
    .map((level) => ({ level, count: problems.filter((one) => one.level === level).length }))
    .filter(({ count }) => count > 0)
    .map(({ level, count }) => `${count} ${level}${count > 1 && level !== 'info' ? 's' : ''}`)
    .join(', ');
}

function lineOf({ file, line, name, message, isNew }: Problem, room: number): string {
  const place = [file, line].filter((part) => part !== undefined).join(':');
  const says = shortened(
    message
      .replace(/^\s*(?:Assertion)?Error: /, '')
      .trim()
      .replaceAll(/\n\s*\n/g, '\n'),
    room,
  );
  // What `only` takes may begin with the file: once is enough.
  const called = file !== undefined && name?.startsWith(`${file}::`) ? name.slice(file.length) : name;
  const head = [`${isNew ? 'new: ' : ''}${place}`, called].filter(Boolean).join(' ');
  if (name === undefined) return `${head} ${says}`;
  return `${head}\n${says.replaceAll(/^/gm, '  ')}`;
}

function lastLines(text: string, most: number): string {
  const last = tailOf(text, most);
  return last.length < text.length ? last.replace(/^[^\n]*\n/, '') : text;
}

/** Its beginning and its end, where that is much less. */
function shortened(message: string, room: number): string {
  if (message.length <= room * 1.25) return message;
  return `${headOf(message, room / 2)} … ${tailOf(message, room / 2)}`;
}

/** Notes in brackets that the action has put behind its own text. */
const notesOf = (result: Result): string[] =>
  textOf(result)
    .split('\n')
    .filter((line) => /^\[(?:checkpoint|no checkpoint|.*read_output)/.test(line));

/** What has no report that can be read: what it said last. */
function asItIs({ kind, isScript, result, subject }: Checked): string {
  const text = textOf(result).trim();
  if (result.isError) return `${kind}: ${text}`;
  const { exitCode = 0, isUnread } = (result.data ?? {}) as { exitCode?: number; isUnread?: boolean };
  // A runner that finds no tests is content.
  const none = kind === 'test' ? 'reported no test' : 'its answer could not be read';
  const how =
    exitCode !== 0
      ? `not passed, exit code ${exitCode}`
      : isUnread && !isScript
        ? `ended well, but ${none}`
        : 'passed';
  const said = text.replace(new RegExp(`^(?:${saidNothing}|${allFormatted})\n?`), '');
  const last = lastLines(said, exitCode === 0 ? tailLength : allMessages);
  return `${kind}: ${how} (${subject})${last === '' ? '' : `\n${last}`}`;
}
