import { presentable } from '../machine/presentable.ts';
import { shownPath } from '../machine/paths/shown-path.ts';
import type { Change } from '../machine/trust/changes.ts';
import type { RunFile, TrustedProject, TrustState } from '../machine/trust/trust.ts';
import { table, type Style } from './table.ts';

/** More lines of one file than this are not read by anybody in a terminal. */
const mostLines = 40;
const mostFiles = 200;
/** Wider ones are no lines that somebody wrote. */
const widest = 500;

/**
 * What decides what runs in a project, one a line, with the scripts of its packages, and what is not covered. Below each file
 * what is in it, each line behind a bar; not when it is shown what has changed.
 */
export function runLines({ files, changes, leftOut, incomplete }: TrustState, style: Style): string {
  const rows = files
    .slice(0, mostFiles)
    .flatMap((file) => [
      [shownPath(file.path), sizeOf(file.size), file.what],
      ...(changes.length > 0 ? scriptLines(file) : contentOf(file)).map((line) => [line]),
    ]);
  const more = files.length - mostFiles;
  return [
    files.length === 0
      ? 'Nothing in it decides what runs; trusting it lets its code run.\n'
      : `${style('bold', 'What decides what runs there')}\n${linesOf(rows)}`,
    more > 0 ? `  and ${more} more (--json lists all)\n` : '',
    leftOut.length === 0 ? '' : `Not looked into: ${leftOut.map(shownPath).join(', ')}\n`,
    incomplete === undefined ? '' : `${style('yellow', 'Not covered')}: ${oneLine(incomplete)}\n`,
  ].join('');
}

/** Columns for the files; a script is wider than any of them. */
function linesOf(rows: readonly (readonly string[])[]): string {
  const files = table(rows.filter((row) => row.length > 1)).split('\n');
  return rows.map((row) => `  ${row.length > 1 ? files.shift() : row[0]}\n`).join('');
}

/** Nothing in a file can pass for a line of ours: only its own stand behind a bar. */
function contentOf(file: RunFile): string[] {
  if (file.text === undefined) return ['  (too long to be shown, or no text)'];
  const lines = presentable(file.text).replace(/\n$/, '').split('\n');
  if (lines.length === 1 && lines[0] === '') return [];
  const isWhole = lines.length <= 2 * mostLines && lines.every((line) => line.length <= widest);
  // What is cut may be scripts.
  return [
    ...(isWhole ? [] : scriptLines(file)),
    ...headAndTailOf(lines.map((line) => `| ${narrowed(line)}`)),
  ];
}

const scriptLines = (file: RunFile): string[] => scriptsOf(file).map((line) => `    ${oneLine(line)}`);

/** At most 40 lines from each end, and how many are left out between them. */
function headAndTailOf(lines: readonly string[]): string[] {
  const more = lines.length - 2 * mostLines;
  if (more <= 0) return [...lines];
  const note = `  … ${more} ${more === 1 ? 'line' : 'lines'} left out here; --json has all`;
  return [...lines.slice(0, mostLines), note, ...lines.slice(-mostLines)];
}

function narrowed(line: string): string {
  if (line.length <= widest) return line;
  const half = widest / 2;
  return `${line.slice(0, half)} … ${line.length - widest} characters left out … ${line.slice(-half)}`.toWellFormed();
}

function scriptsOf({ path, text }: RunFile): string[] {
  if (text === undefined || !/(?:^|\/)package\.json$/i.test(path)) return [];
  try {
    const { scripts } = JSON.parse(text) as { scripts?: unknown };
    if (typeof scripts !== 'object' || scripts === null) return [];
    return Object.entries(scripts).map(([name, line]) => `${name}: ${String(line)}`);
  } catch {
    // No JSON: its name and size have to do.
    return [];
  }
}

/** What has changed since a project was trusted: the lines that are gone and those that are new. */
export function changeLines(changes: readonly Change[], style: Style): string {
  const of = ({ path, how, before, after }: Change) => {
    const title = `  ${shownPath(path)}: ${how}\n`;
    if (before === undefined && after === undefined) return title;
    const [gone, come] = differing(linesIn(before), linesIn(after));
    const lines = [...gone.map((line) => `- ${line}`), ...come.map((line) => `+ ${line}`)];
    const shown = headAndTailOf(lines).map((line) => {
      if (line.startsWith('  …')) return `  ${line}\n`;
      return `    ${style(line.startsWith('-') ? 'red' : 'green', narrowed(oneLine(line)))}\n`;
    });
    return `${title}${shown.join('')}`;
  };
  const more = changes.length - mostFiles;
  return `${style('bold', 'What has changed')}\n${changes.slice(0, mostFiles).map(of).join('')}${more > 0 ? `  and ${more} more\n` : ''}`;
}

const linesIn = (text: string | undefined): string[] => (text ? text.split(/\r?\n/) : []);

/** Without what is the same at the beginning and at the end: no exact difference, but none is hidden. */
function differing(
  before: readonly string[],
  after: readonly string[],
): [readonly string[], readonly string[]] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start++;
  let end = 0;
  const most = Math.min(before.length, after.length) - start;
  while (end < most && before.at(-1 - end) === after.at(-1 - end)) end++;
  return [before.slice(start, before.length - end), after.slice(start, after.length - end)];
}

/** What is trusted, one project a line, and below each what was answered with "always". */
export function projectLines(projects: readonly TrustedProject[], damaged: number, style: Style): string {
  const lines = projects.map(({ project, trustedAt, current, grants }) => {
    const says =
      trustedAt === undefined
        ? 'not trusted; has answers'
        : `trusted ${trustedAt.slice(0, 10)}${current ? '' : ', changed since: is asked again'}`;
    const kept = grants.map((grant) => `    always: ${oneLine(`${grant.tool}: ${grant.says}`)}\n`);
    return `${style('bold', shownPath(project))}  ${oneLine(says)}\n${kept.join('')}`;
  });
  const none = lines.length === 0 ? 'No project is trusted. toolcrib trust FOLDER trusts one.\n' : '';
  const bad = damaged === 0 ? '' : `${damaged} files of what was kept are damaged and not believed.\n`;
  return `${lines.join('')}${none}${bad}`;
}

/** Nothing in it can command the terminal or pass for another line. */
const oneLine = (text: string): string => presentable(text).replaceAll(/[\n\u2028\u2029]/g, ' ');

function sizeOf(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  return bytes < 1024 * 1024 ? `${Math.round(bytes / 1024)} KB` : `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}
