import { printable, inLine } from '../terminal/printable.ts';
import { wordsOf, type SessionEntry } from './entry.ts';
import type { ChatSession } from './session.ts';

/** The current branch as Markdown to read and to share. */
export function exportMarkdown(session: ChatSession): string {
  const { id, created, cwd } = session.header;
  const title = inLine(session.state.name ?? `Session ${id}`);
  const blocks = [`# ${title}`, `${created}, in ${inLine(cwd)}`, ...session.path().flatMap(blocksOf)];
  // It may be printed: without what a terminal would obey.
  return printable(`${blocks.filter((block) => block !== '').join('\n\n')}\n`);
}

function blocksOf(entry: SessionEntry): string[] {
  const { text = '' } = wordsOf(entry) ?? {};
  switch (entry.type) {
    case 'user': {
      // What came with it, not what that held.
      const others = entry.content.flatMap((part) =>
        part.type === 'image' ? [`*[${inLine(part.name ?? 'image')}]*`] : [],
      );
      return entry.typed === '' ? [] : ['## You', quoted([text, ...others].join('\n\n'))];
    }
    case 'assistant': {
      const { calls, model } = entry.message;
      const called = calls.flatMap(({ name, arguments: args }) => [`Calls ${inLine(name)}`, fenced(args)]);
      return [`## ${inLine(model)}`, text.trim(), ...called];
    }
    case 'tool':
      return entry.state === 'done' ? [`Result of ${inLine(entry.name)}`, fenced(text)] : [];
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

/** Quotes a text: whatever stands in a quote ends with it. */
const quoted = (text: string): string => text.replaceAll(/^/gm, '> ').replaceAll(/ +$/gm, '');

/**
 * The whole tree: what was said, answered and summarised. A straight run is flat; each branch of several is
 * deeper.
 */
export function treeLines(session: ChatSession) {
  const current = session.path().findLast(isShown)?.id;
  /** The shown entries after each shown one, and after the beginning: those that come next, oldest first. */
  const next = new Map<string | null, SessionEntry[]>();
  /** The nearest shown entry at or before each. */
  const shown = new Map<string | null, string | null>();
  for (const entry of session.entries()) {
    const before = shown.get(entry.parent) ?? null;
    shown.set(entry.id, isShown(entry) ? entry.id : before);
    if (isShown(entry)) next.set(before, [...(next.get(before) ?? []), entry]);
  }
  /** `depth`: how many times the conversation has branched on the way; `current`: where it is. */
  const lines: { id: string; depth: number; label: string; current: boolean }[] = [];
  const waiting: { entry: SessionEntry; depth: number }[] = [];
  const goOn = (from: string | null, depth: number) => {
    const entries = next.get(from) ?? [];
    const deeper = entries.length > 1 ? depth + 1 : depth;
    waiting.push(...entries.toReversed().map((entry) => ({ entry, depth: deeper })));
  };
  goOn(null, 0);
  for (let one = waiting.pop(); one; one = waiting.pop()) {
    const { role, text = '' } = wordsOf(one.entry) ?? {};
    const { id } = one.entry;
    lines.push({ id, depth: one.depth, label: `${role}: ${inLine(text, 200)}`, current: id === current });
    goOn(id, one.depth);
  }
  return lines;
}

function isShown(entry: SessionEntry): boolean {
  const { role, text = '' } = wordsOf(entry) ?? {};
  return role !== undefined && role !== 'tool' && (role === 'you' || text.trim() !== '');
}
