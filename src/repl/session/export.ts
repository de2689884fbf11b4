import { printable } from '../terminal/printable.ts';
import { oneLine } from '../text/one-line.ts';
import type { Entry, EntryOf } from './entry.ts';
import type { Session } from './session.ts';

/** The current branch as Markdown to read and to share. */
export function exportMarkdown(session: Session): string {
  const { id, created, cwd } = session.header;
  const blocks = [
    `# ${oneLine(session.state.name ?? `Session ${id}`)}`,
    `${created}, in ${oneLine(cwd)}`,
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
      const called = calls.flatMap((call) => [`Calls ${oneLine(call.name)}`, fenced(call.arguments || '{}')]);
      return [`## ${oneLine(model)}`, text.trim(), ...called];
    }
    case 'tool': {
      if (entry.state !== 'done') return [];
      const images = (entry.images ?? []).map(({ name }) => `*[${oneLine(name)}]*`);
      const title = `${entry.isError ? 'Error' : 'Result'} of ${oneLine(entry.name)}`;
      return [title, ...(entry.text ? [fenced(entry.text)] : []), ...images];
    }
    case 'compaction':
      return ['What came before was summarised for the model:', quoted(entry.summary)];
    default:
      return [];
  }
}

/** What the person typed, and what came with it; not what it held, nor what was told to the model beside it. */
function said({ typed, content }: EntryOf<'user'>): string {
  const others = content.flatMap((part) => {
    if (part.type === 'text') return typed === undefined ? [part.text] : [];
    return [part.type === 'image' ? '*[image]*' : `*[${oneLine(part.name)}]*`];
  });
  return [...(typed ? [typed] : []), ...others].join('\n\n');
}

/** A block of code, with a fence that is longer than any in it. */
function fenced(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}\n${text.replace(/\n$/, '')}\n${fence}`;
}

/** Whatever stands in a quote ends with it. */
const quoted = (text: string): string => text.replaceAll(/^/gm, '> ').replaceAll(/ +$/gm, '');
