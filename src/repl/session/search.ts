import { ChatError } from '../errors.ts';
import { textOf } from '../message.ts';
import { readSessionText } from '../files/private-file.ts';
import { parseEntry, type Entry } from './entry.ts';
import { oneLine } from '../text/one-line.ts';
import type { SessionInfo, Store } from './store.ts';

export interface Hit {
  readonly session: SessionInfo;
  readonly role: 'you' | 'answer' | 'tool' | 'summary';
  /** One line around the first word, as it was written: do not print it raw. */
  readonly excerpt: string;
}

interface SearchOptions {
  readonly limit: number;
  /** In all projects, not only this one. */
  readonly all?: boolean;
}

/**
 * Entries in which all words occur, in any case; "words in quotes" as they stand. The newest sessions first, and in
 * each the newest entries. Throws USAGE for a query without a word.
 */
export function searchSessions(
  store: Pick<Store, 'list' | 'listAll'>,
  query: string,
  { limit, all = false }: SearchOptions,
): Hit[] {
  const words = [...query.matchAll(/"([^"]+)"|[^\s"]+/g)].map(([word, quoted]) =>
    (quoted ?? word).toLowerCase(),
  );
  if (words.length === 0)
    throw new ChatError('USAGE', 'Say what to look for, as in: /search word "some words"');
  const hits: Hit[] = [];
  for (const session of all ? store.listAll() : store.list())
    for (const line of linesIn(session).toReversed()) {
      const hit = hitIn(line, words);
      if (hit) hits.push({ session, ...hit });
      if (hits.length === limit) return hits;
    }
  return hits;
}

function linesIn({ file, damaged }: SessionInfo): string[] {
  try {
    return damaged === undefined ? readSessionText(file).split('\n') : [];
  } catch {
    return []; // Removed since it was listed.
  }
}

function hitIn(line: string, words: readonly string[]): Omit<Hit, 'session'> | undefined {
  // A word stands in the file as JSON writes it: most lines need not be parsed to be passed over.
  const lower = line.toLowerCase();
  if (!words.every((word) => lower.includes(JSON.stringify(word).slice(1, -1)))) return undefined;
  const entry = parseEntry(line);
  const [role, whole] = (entry && textIn(entry)) ?? [];
  const small = whole?.toLowerCase() ?? '';
  if (!role || !whole || !words.every((word) => small.includes(word))) return undefined;
  return { role, excerpt: around(whole, Math.min(...words.map((word) => small.indexOf(word)))) };
}

function textIn(entry: Entry): [Hit['role'], string] | undefined {
  switch (entry.type) {
    case 'user':
      return ['you', textOf(entry.content)];
    case 'assistant':
      return [
        'answer',
        [entry.message.text, ...entry.message.calls.map((call) => call.arguments)].join('\n'),
      ];
    case 'tool':
      return ['tool', entry.text ?? ''];
    case 'compaction':
      return ['summary', entry.summary];
    default:
      return undefined;
  }
}

function around(text: string, at: number): string {
  const from = Math.max(0, at - 60);
  // A line can only be cut at its end: the half of a character at its beginning goes.
  const rest = text.slice(from, from + 1000).replace(/^[\uDC00-\uDFFF]/, '');
  return `${from > 0 ? '…' : ''}${oneLine(rest, 200)}`;
}
