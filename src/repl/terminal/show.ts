import type { ToolCall, Usage } from '../message.ts';
import type { Todo } from '../session/entry.ts';
import { objectOf } from '../text/json.ts';
import { shownName, type Tool, type ToolReply } from '../toolbox/tool.ts';
import { aligned } from './aligned.ts';
import { escaped, printable } from './printable.ts';
import type { Paint } from './terminal.ts';
import { cells, cutToCells, padToCells } from './width.ts';

export interface Look {
  readonly paint: Paint;
  readonly width: number;
}

/** `● name(path: a.ts, lines: 50)`: one line, cut at the terminal's width. */
export function callLine(call: ToolCall, tool: Tool | undefined, { paint, width }: Look): string {
  const name = oneLine(tool ? shownName(tool) : call.name);
  const shown = cutToCells(name, width - 4);
  const given = compact(call.arguments);
  const rest = given === '' ? '' : cutToCells(`(${given})`, width - 3 - cells(shown));
  return `${paint.tool('●')} ${paint.strong(shown)}${paint.dim(rest)}`;
}

/** `  └ 1.2s 34 lines`, or what was said when it was one line; the first line of an error or above a diff. */
export function resultLine(
  reply: ToolReply,
  { paint, width, ms, name }: Look & { readonly ms: number; readonly name?: string },
): string {
  const text = reply.text.trim();
  const [first = ''] = text.split('\n', 1);
  const lines = text === '' ? 0 : text.split('\n').length;
  const images = reply.images.length === 0 ? '' : ` + ${counted(reply.images.length, 'image')}`;
  const trouble = (exitCode.exec(text) ?? complaint.exec(text))?.[0];
  const said =
    lines === 0
      ? 'no output'
      : lines === 1 || aboveDiff(text) !== undefined
        ? printable(first)
        : `${counted(lines, 'line')}${trouble === undefined ? '' : `: ${printable(trouble)}`}`;
  const begin = `  └ ${name === undefined ? '' : `${oneLine(name)} `}${duration(ms)} `;
  const room = width - 1 - cells(begin);
  const what = reply.isError
    ? paint.bad(cutToCells(`error: ${printable(first)}`, room))
    : paint.dim(cutToCells(said + images, room));
  return paint.dim(begin) + what;
}

/**
 * How programs that run others tell of a failure, where the server does not: a code in any line, or words in the
 * first.
 */
const exitCode = /^\W{0,4}exit(?:ed)?(?: with)?[ _]?(?:code|status)\W{1,4}[1-9]\d*/im;
const complaint = /^(?:\w*error|fatal|failed)\b.*/i;

/** `thought for 3s: the first words…`; without a time when they came all at once, which says nothing of it. */
export function thoughtsLine(text: string, ms: number, { paint, width }: Look): string {
  const time = ms < 50 ? '' : ` for ${duration(ms)}`;
  const words = printable(text.trim().slice(0, 300)).replaceAll(/\s+/g, ' ');
  return paint.dim(cutToCells(`thought${time}: ${words}`, width - 1));
}

/**
 * `in 12.3k (cached 10k) · out 480 · 14% of 200k · 3.2s`; `~` before what was estimated. At 75 % it warns, at 85 %
 * more so.
 */
export function usageLine(
  usage: Usage,
  { window, ms }: { readonly window: number; readonly ms: number },
  paint: Paint,
): string {
  const about = usage.estimated ? '~' : '';
  const input = usage.input + usage.cacheRead + usage.cacheWrite;
  const cached = usage.cacheRead > 0 ? ` (cached ${tokens(usage.cacheRead)})` : '';
  const percent = Math.round((100 * (input + usage.output)) / Math.max(1, window));
  const style = percent >= 85 ? paint.bad : percent >= 75 ? paint.warning : paint.dim;
  return [
    paint.dim(`in ${about}${tokens(input)}${cached} · out ${about}${tokens(usage.output)} · `),
    style(`${about}${percent}% of ${tokens(window)}`),
    paint.dim(` · ${duration(ms)}`),
  ].join('');
}

/** `85ms`, `3.2s`, `2m 05s`. */
export function duration(ms: number): string {
  if (ms < 995) return `${Math.round(ms)}ms`;
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)}s`;
  const seconds = Math.round(ms / 1000);
  return `${Math.floor(seconds / 60)}m ${String(seconds % 60).padStart(2, '0')}s`;
}

/** More arguments than this are folded, and characters of a line that is longer. */
const mostArguments = 30;
const mostOfLine = 500;

/**
 * The arguments a person is asked about, one below the other, with nothing that hides in them: every control and
 * invisible character is spelled out, text of several lines stands behind a bar, so that it cannot look like
 * another argument. Folded in the middle to `most` lines each, and then it says how long they are; Infinity folds
 * nothing.
 */
export function argumentsForApproval(
  args: Readonly<Record<string, unknown>>,
  paint: Paint,
  most: number,
): string[] {
  const whole = most === Infinity;
  const entries = Object.entries(args);
  const shown = whole ? entries : entries.slice(0, mostArguments);
  const lines = shown.flatMap(([key, value]) => {
    const text = typeof value === 'string' ? value : structured(value);
    const name = `  ${paint.strong(foldLine(oneLine(key), whole))}:`;
    const all = escaped(text).split('\n');
    if (all.length === 1 && text.length <= mostOfLine)
      return [`${name} ${text === text.trim() && text !== '' ? all[0] : `"${all[0]}"`}`];
    const size = paint.dim(` (${counted(all.length, 'line')}, ${counted(text.length, 'character')})`);
    return [
      `${name}${size}`,
      ...middleFolded(all, most).map((line) => `  ${paint.dim('│')} ${foldLine(line, whole)}`),
    ];
  });
  const left = entries.length - shown.length;
  return left > 0 ? [...lines, paint.warning(`  … ${counted(left, 'more argument')} (/show)`)] : lines;
}

/** Whether a text holds hunks of a unified diff. */
export const looksLikeDiff = (text: string): boolean => hunk.test(text);
const hunk = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/m;

/** The line that stands above the diff a text holds, as in `Edited a.ts: +1 -1`. */
export const aboveDiff = (text: string): string | undefined =>
  looksLikeDiff(text) ? /^(?!---|\+\+\+|diff |index |@@|```).+(?=\n)/.exec(text)?.[0] : undefined;

/** The lines of a text, those of the unified diffs in it coloured. */
export function diffLines(text: string, paint: Paint): string[] {
  // What the hunk still has to come, by its own count: `--- a` may be a line of it or the head of the next file.
  let removed = 0;
  let added = 0;
  return text
    .replace(/\n$/, '')
    .split('\n')
    .map((line) => {
      const inside = removed > 0 || added > 0;
      const head = inside ? null : hunk.exec(line);
      if (head) {
        removed = Number(head[1] ?? 1);
        added = Number(head[2] ?? 1);
        return paint.dim(line);
      }
      if (!inside) return /^(?:---|\+\+\+|diff|index) /.test(line) ? paint.strong(line) : line;
      if (line.startsWith('\\')) return paint.dim(line);
      if (!line.startsWith('+')) removed--;
      if (!line.startsWith('-')) added--;
      return line.startsWith('+') ? paint.added(line) : line.startsWith('-') ? paint.removed(line) : line;
    });
}

/** Rows with their cells under each other; what is too long is wrapped inside its column. */
export function table(rows: readonly (readonly string[])[], width: number): string[] {
  const flat = rows.map((row) => row.map((cell) => cell.replaceAll(/[\n\t]|(?<=\S)\s+/g, ' ')));
  return aligned(flat, { width, separator: '  ' })?.lines.flat() ?? flat.map((row) => row.join('  '));
}

/** Rows of two cells, one line each: of the second no more is shown than there is room for. */
export function oneLineEach(rows: readonly (readonly [string, string])[], width: number): string[] {
  const first = Math.min(width >> 1, Math.max(0, ...rows.map(([cell]) => cells(cell))));
  return rows.map(([cell, rest]) => {
    const begin = padToCells(cell, first);
    return `${begin}  ${cutToCells(rest.replaceAll(/\s+/g, ' '), width - 3 - cells(begin))}`.trimEnd();
  });
}

/** `1 ☐ text`, with the number that commands take. */
export const todoLines = (todos: readonly Todo[], paint: Paint): string[] =>
  todos.map(({ text, status, priority }, index) => {
    const box = { pending: '☐', in_progress: '▸', completed: '☑' }[status];
    const line = `${index + 1} ${box} ${printable(text).replaceAll(/\s+/g, ' ')}`;
    if (status === 'completed') return paint.dim(line);
    const marked = priority === 'high' ? `${line} ${paint.warning('!')}` : line;
    return status === 'in_progress' ? paint.strong(marked) : marked;
  });

/** Untrusted text in one line: nothing hides, and a line end is seen. */
const oneLine = (text: string): string => escaped(text).replaceAll('\n', '\\n').replaceAll('\t', ' ');

const counted = (count: number, what: string): string =>
  `${count.toLocaleString('en')} ${what}${count === 1 ? '' : 's'}`;

/** 480, 1.2k, 12.3k, 200k, 1.5M */
function tokens(count: number): string {
  if (count < 1000) return String(count);
  const [unit, name] = count < 999_500 ? [1000, 'k'] : [1_000_000, 'M'];
  return `${(count / unit).toFixed(count / unit < 100 ? 1 : 0).replace(/\.0$/, '')}${name}`;
}

/** `key: value, …` of what should be a JSON object, and may be anything. */
function compact(json: string): string {
  try {
    const value: unknown = JSON.parse(json === '' ? '{}' : json);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return oneLine(json);
    return Object.entries(value)
      .map(
        ([key, item]) =>
          `${oneLine(key)}: ${oneLine((typeof item === 'string' ? item : JSON.stringify(item)).slice(0, 500))}`,
      )
      .join(', ');
  } catch {
    // The model wrote no JSON: shown as it wrote it.
    return oneLine(json.slice(0, 500));
  }
}

/** The argument that tells calls of one tool apart. */
export function tellingArgument(json: string): string {
  try {
    const first = Object.values(objectOf(JSON.parse(json))).find((value) => typeof value === 'string');
    return cutToCells(oneLine(String(first ?? '')), 40);
  } catch {
    return ''; // No JSON.
  }
}

function structured(value: unknown): string {
  const short = JSON.stringify(value) ?? 'undefined';
  return short.length <= 80 ? short : JSON.stringify(value, null, 2);
}

function middleFolded(lines: readonly string[], most: number): readonly string[] {
  if (lines.length <= most) return lines;
  const tail = Math.floor(most / 3);
  const note = `… ${counted(lines.length - most, 'more line')} (/show) …`;
  return [...lines.slice(0, most - tail), note, ...lines.slice(lines.length - tail)];
}

export function foldLine(line: string, whole: boolean): string {
  if (whole || line.length <= mostOfLine) return line;
  const head = line.slice(0, mostOfLine - 100).replace(/[\ud800-\udbff]$/, '');
  const tail = line.slice(-100).replace(/^[\udc00-\udfff]/, '');
  return `${head} … ${counted(line.length - head.length - tail.length, 'more character')} (/show) … ${tail}`;
}
