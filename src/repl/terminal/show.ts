import type { ToolCall, Usage } from '../message.ts';
import type { Todo } from '../session/entry.ts';
import { isObject } from '../text/json.ts';
import { shownName, type ClientTool, type ToolReply } from '../toolbox/tool.ts';
import type { TurnEnd } from '../turn/turn-event.ts';
import type { Paint } from './paint.ts';
import { inLine, printable, cells, cutToCells } from './printable.ts';
import type { Terminal } from './terminal.ts';

type RenderTarget = Pick<Terminal, 'paint' | 'width'>;

/** `● name(path: a.ts, lines: 50)`: one line, cut at the terminal's width. */
export function callLine(
  call: ToolCall,
  tool: ClientTool | undefined,
  { paint, width }: RenderTarget,
): string {
  const shown = cutToCells(inLine(tool ? shownName(tool) : call.name), width - 4);
  const given = argumentsOf(call.arguments).map(([key, text]) => `${key === '' ? '' : `${key}: `}${text}`);
  const rest = given.length === 0 ? '' : cutToCells(`(${given.join(', ')})`, width - 3 - cells(shown));
  return `${paint.tool('●')} ${paint.strong(shown)}${paint.dim(rest)}`;
}

/** The argument that tells calls of one tool apart. */
export const tellingArgument = (json: string): string =>
  cutToCells(argumentsOf(json).find(([, , isText]) => isText)?.[1] ?? '', 40);

/** `  └ 1.2s 34 lines`, or what was said when it was one line; the first line of an error or above a diff. */
export function resultLine(
  reply: ToolReply,
  { ms, name }: { readonly ms: number; readonly name: string | undefined },
  { paint, width }: RenderTarget,
): string {
  const text = reply.text.trim();
  const [first = '', ...more] = text.split('\n');
  const isShort = more.length === 0 || reply.isError || aboveDiff(text) !== undefined;
  const said = text === '' ? 'no output' : isShort ? printable(first) : counted(more.length + 1, 'line');
  const images = reply.images.length === 0 ? '' : ` + ${counted(reply.images.length, 'image')}`;
  const begin = `  └ ${name === undefined ? '' : `${inLine(name)} `}${duration(ms)} `;
  const room = width - 1 - cells(begin);
  if (reply.isError) return paint.dim(begin) + paint.bad(cutToCells(`error: ${said}`, room));
  return paint.dim(begin + cutToCells(said + images, room));
}

/** `thought: the first words…` */
export function thoughtsLine(text: string, { paint, width }: RenderTarget): string {
  const words = printable(text.trim().slice(0, 300)).replaceAll(/\s+/g, ' ');
  return paint.dim(cutToCells(`thought: ${words}`, width - 1));
}

/**
 * `in 12.3k (cached 10k) · out 480 · 14% of 200k · 3.2s`; `~` before what was estimated. A full window is
 * coloured.
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
  const spent = paint.dim(`in ${about}${tokens(input)}${cached} · out ${about}${tokens(usage.output)} · `);
  return `${spent}${style(`${about}${percent}% of ${tokens(window)}`)}${paint.dim(` · ${duration(ms)}`)}`;
}

/** The words at the end of a turn. */
export const endings: Readonly<Record<TurnEnd, string>> = {
  done: '',
  length: 'The answer was cut at the length limit. Say "go on" for the rest.',
  filtered: 'The provider withheld the answer.',
  interrupted: 'Interrupted.',
  rounds: 'Stopped at the limit of answers in one turn (maxTurns, or --max-turns).',
  stopped: 'Stopped.',
  failed: 'Failed.',
  empty: 'The model gave no answer.',
};

/** `85ms`, `3.2s`, `125s`. */
const duration = (ms: number): string =>
  ms < 995 ? `${Math.round(ms)}ms` : `${(ms / 1000).toFixed(ms < 99_500 ? 1 : 0)}s`;

/** `1 ☐ text` */
export const todoLines = (todos: readonly Todo[], paint: Paint): string[] =>
  todos.map(({ text, status, priority }, index) => {
    const box = { pending: '☐', in_progress: '▸', completed: '☑' }[status];
    const line = `${index + 1} ${box} ${printable(text).replaceAll(/\s+/g, ' ')}`;
    if (status === 'completed') return paint.dim(line);
    const marked = priority === 'high' ? `${line} ${paint.warning('!')}` : line;
    return status === 'in_progress' ? paint.strong(marked) : marked;
  });

export const counted = (count: number, what: string): string =>
  `${count.toLocaleString('en')} ${what}${count === 1 ? '' : 's'}`;

/** 480, 1.2k, 12.3k, 200k, 1.5M */
const tokens = (count: number): string =>
  count.toLocaleString('en', { notation: 'compact', maximumSignificantDigits: 3 }).replace('K', 'k');

/**
 * Names and values of what should be a JSON object; what is none is shown as the model wrote it, without a
 * name.
 */
function argumentsOf(json: string): [name: string, value: string, isText: boolean][] {
  let value: unknown;
  try {
    value = JSON.parse(json === '' ? '{}' : json);
  } catch {
    // No JSON.
  }
  if (!isObject(value)) return [['', inLine(json, 500), false]];
  return Object.entries(value).map(([key, item]) => {
    const isText = typeof item === 'string';
    return [inLine(key), inLine(isText ? item : JSON.stringify(item), 500), isText];
  });
}

const hunk = /^@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@/m;

/** Tells whether a text holds hunks of a unified diff. */
export const looksLikeDiff = (text: string): boolean => hunk.test(text);

/** The line that stands above the diff a text holds, as in `Edited a.ts: +1 -1`. */
export const aboveDiff = (text: string): string | undefined =>
  looksLikeDiff(text) ? /^(?!---|\+\+\+|diff |index |@@|```).+(?=\n)/.exec(text)?.[0] : undefined;

/** The lines of a text, those of the unified diffs in it coloured. */
export function diffLines(text: string, paint: Paint): string[] {
  let inside = false;
  return text
    .replace(/\n$/, '')
    .split('\n')
    .map((line) => {
      if (/^(?:---|\+\+\+) \S/.test(line) || /^(?:diff|index) /.test(line)) return paint.strong(line);
      inside = hunk.test(line) || (inside && /^[-+ \\]/.test(line));
      if (!inside) return line;
      if (line.startsWith('@@')) return paint.dim(line);
      return line.startsWith('+') ? paint.added(line) : line.startsWith('-') ? paint.removed(line) : line;
    });
}
