import { printable } from '../terminal/printable.ts';
import { oneLine } from '../text/one-line.ts';
import { wordsOf, type Entry } from './entry.ts';
import type { Session } from './session.ts';

/** The current branch as Markdown to read and to share. */
export function exportMarkdown(session: Session): string {
  const { id, created, cwd } = session.header;
  const title = oneLine(session.state.name ?? `Session ${id}`);
  const blocks = [`# ${title}`, `${created}, in ${oneLine(cwd)}`, ...session.path().flatMap(blocksOf)];
  // It may be printed: without what a terminal would obey.
  return printable(`${blocks.filter((block) => block !== '').join('\n\n')}\n`);
}

function blocksOf(entry: Entry): string[] {
  const { text = '' } = wordsOf(entry) ?? {};
  switch (entry.type) {
    case 'user': {
      // What came with it, not what that held.
      const others = entry.content.flatMap((part) =>
        part.type === 'image' ? [`*[${oneLine(part.name ?? 'image')}]*`] : [],
      );
      return entry.typed === '' ? [] : ['## You', quoted([text, ...others].join('\n\n'))];
    }
    case 'assistant': {
      const { calls, model } = entry.message;
      const called = calls.flatMap(({ name, arguments: args }) => [`Calls ${oneLine(name)}`, fenced(args)]);
      return [`## ${oneLine(model)}`, text.trim(), ...called];
    }
    case 'tool':
      return entry.state === 'done' ? [`Result of ${oneLine(entry.name)}`, fenced(text)] : [];
    case 'compaction':
      return ['What came before was summarised for the model:', quoted(text)];
    default:
      return [];
  }
}

/** A block of code, with a fence that is longer than any in it. */
function fenced(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}\n${text.replace(/\n$/, '')}\n${fence}`;
}

/** Whatever stands in a quote ends with it. */
const quoted = (text: string): string => text.replaceAll(/^/gm, '> ').replaceAll(/ +$/gm, '');
