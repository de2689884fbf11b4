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
  /** After so long, what was found until then is all. */
  readonly withinMs?: number;
}

/**
 * Entries in which all words occur, in any case; "words in quotes" as they stand. The newest sessions first, and in
 * each the newest entries. `incomplete`: there was no time to look everywhere. Throws USAGE for a query without a
 * word.
 */
export function searchSessions(
  store: Pick<Store, 'list' | 'listAll'>,
  query: string,
  { limit, all = false, withinMs = 5000 }: SearchOptions,
): { found: Hit[]; incomplete: boolean } {
  const words = [...query.matchAll(/"([^"]+)"|[^\s"]+/g)].map(([word, quoted]) =>
    (quoted ?? word).toLowerCase(),
  );
  if (words.length === 0)
    throw new ChatError('USAGE', 'Say what to look for, as in: /search word "some words"');
  // A word stands in the file as JSON writes it: most lines need not be parsed to be passed over.
  const written = words.map((word) => JSON.stringify(word).slice(1, -1).toLowerCase());
  const until = performance.now() + withinMs;
  const found: Hit[] = [];
  for (const session of all ? store.listAll() : store.list()) {
    if (performance.now() > until) return { found, incomplete: true };
    for (const text of linesIn(session).toReversed()) {
      if (found.length === limit) return { found, incomplete: false };
      const hit = hitIn(text, words, written);
      if (hit) found.push({ session, ...hit });
    }
  }
  return { found, incomplete: false };
}

function linesIn({ file, damaged }: SessionInfo): string[] {
  try {
    return damaged === undefined ? readSessionText(file).split('\n') : [];
  } catch {
    return []; // Removed since it was listed.
  }
}

function hitIn(
  text: string,
  words: readonly string[],
  written: readonly string[],
): Omit<Hit, 'session'> | undefined {
  const lower = text.toLowerCase();
  if (!written.every((word) => lower.includes(word))) return undefined;
  const entry = parseEntry(text);
  const said = entry && textIn(entry);
  if (!said) return undefined;
  const [role, whole] = said;
  const small = whole.toLowerCase();
  if (!words.every((word) => small.includes(word))) return undefined;
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
