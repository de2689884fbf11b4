import { printable } from '../terminal/printable.ts';
import type { Entry } from './entry.ts';
import type { Session } from './session.ts';

/**
 * The current branch as JSON text: what was said, answered, called, returned and summarised, as the session file
 * has it. The bytes of images, and what only one provider understands, are left out.
 */
export function exportJson(session: Session): string {
  const { id, cwd, created, parent } = session.header;
  const entries = session.path().filter(isSaid);
  const whole = { id, name: session.name, cwd, created, parent, entries };
  const leftOut = new Set(['native', 'data']);
  return `${JSON.stringify(whole, (key, value: unknown) => (leftOut.has(key) ? undefined : value), 2)}\n`;
}

const isSaid = (entry: Entry): boolean =>
  ['user', 'assistant', 'compaction'].includes(entry.type) ||
  (entry.type === 'tool' && entry.state === 'done');

type Content = Extract<Entry, { type: 'user' }>['content'][number];

/** The current branch as Markdown to read and to share. Nothing that was said can break out of its place. */
export function exportMarkdown(session: Session): string {
  const { id, created, cwd } = session.header;
  const blocks = [
    `# ${inline(session.name ?? `Session ${id}`)}`,
    `${created}, in ${code(cwd)}`,
    ...session.path().flatMap(blocksOf),
  ];
  // It may be printed: without what a terminal would obey.
  return printable(`${blocks.filter((block) => block !== '').join('\n\n')}\n`);
}

function blocksOf(entry: Entry): string[] {
  switch (entry.type) {
    case 'user':
      return said(entry) === '' ? [] : ['## You', quoted(said(entry))];
    case 'assistant': {
      const { text, calls, model } = entry.message;
      return [
        `## ${inline(model)}`,
        withFenceClosed(text),
        ...calls.flatMap((call) => [`Calls ${code(call.name)}`, fenced(pretty(call.arguments), 'json')]),
      ];
    }
    case 'tool': {
      if (entry.state !== 'done') return [];
      const seconds = entry.ms === undefined ? '' : `, ${(entry.ms / 1000).toFixed(1)} s`;
      const title = `${entry.isError ? 'Error' : 'Result'} of ${entry.name.replaceAll('<', '&lt;')}${seconds}`;
      const images = (entry.images ?? []).map(shown);
      return folded(title, [...(entry.text ? [fenced(entry.text)] : []), ...images]);
    }
    case 'compaction':
      return folded('What came before was summarised for the model', [quoted(entry.summary)]);
    default:
      return [];
  }
}

/** What the person typed, and what came with it; not what it held, nor what was told to the model beside it. */
function said({ typed, content }: Extract<Entry, { type: 'user' }>): string {
  const others = content.filter((part) => typed === undefined || part.type !== 'text');
  return [...(typed ? [typed] : []), ...others.map(shown)].join('\n\n');
}

const folded = (title: string, blocks: readonly string[]): string[] => [
  `<details><summary>${title}</summary>`,
  ...blocks,
  '</details>',
];

const shown = (part: Content): string =>
  part.type === 'text' ? part.text : `*[${part.type === 'image' ? 'image' : inline(part.name)}]*`;

function pretty(args: string): string {
  try {
    return JSON.stringify(JSON.parse(args || '{}'), undefined, 2);
  } catch {
    return args; // No JSON at all: shown as the model wrote it.
  }
}

/** A block of code, with a fence that is longer than any in it. */
function fenced(text: string, language = ''): string {
  const fence = '`'.repeat(Math.max(3, longestRun(text) + 1));
  return `${fence}${language}\n${text.replace(/\n$/, '')}\n${fence}`;
}

function code(text: string): string {
  const fence = '`'.repeat(longestRun(text) + 1);
  return `${fence} ${text.replaceAll(/\s+/g, ' ')} ${fence}`;
}

const longestRun = (text: string): number =>
  (text.match(/`+/g) ?? []).reduce((longest, run) => Math.max(longest, run.length), 0);

/** Whatever stands in a quote, open fences and HTML included, ends with it. */
const quoted = (text: string): string =>
  escapedHtml(text)
    .split('\n')
    .map((line) => `> ${line}`.trimEnd())
    .join('\n');

/** Markdown of the model, with its last fence closed. */
function withFenceClosed(text: string): string {
  let fence: string | undefined;
  for (const line of text.split('\n')) {
    const [, run = '', rest = ''] = /^ {0,3}(`{3,}|~{3,})(.*)$/.exec(line) ?? [];
    if (run === '') continue;
    if (fence === undefined) fence = run.startsWith('`') && rest.includes('`') ? undefined : run;
    else if (run[0] === fence[0] && run.length >= fence.length && rest.trim() === '') fence = undefined;
  }
  const whole = escapedHtml(text.trim());
  return fence === undefined ? whole : `${whole}\n${fence}`;
}

/** These would swallow what follows, or end what they stand in, when they are not closed where they were opened. */
const escapedHtml = (text: string): string =>
  text.replaceAll(
    /^( {0,3})<(?=\/?(?:script|pre|style|textarea|details|summary|table|div)\b|[!?])/gim,
    '$1\\<',
  );

/** On one line, with nothing in it that Markdown would take for its own. */
const inline = (text: string): string =>
  text
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/[\\`*_[\]<>#|]/g, String.raw`\$&`)
    .trim();
