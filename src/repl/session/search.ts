import { ChatError } from '../errors.ts';
import { textOf } from '../message.ts';
import { readSessionText } from '../files/private-file.ts';
import { oneLine } from '../text/one-line.ts';
import { parseEntry, type Entry } from './entry.ts';
import type { SessionInfo } from './store.ts';

export interface Hit {
  readonly session: SessionInfo;
  readonly role: 'you' | 'answer' | 'tool' | 'summary';
  /** One line around the first word, as it was written: do not print it raw. */
  readonly excerpt: string;
}

/**
 * Entries in which all words occur, in any case: the newest sessions first, as they are given, and in each the newest
 * entries. Throws USAGE for a query without a word.
 */
export function searchSessions(sessions: readonly SessionInfo[], query: string, most = 20): Hit[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) throw new ChatError('USAGE', 'Say what to look for, as in: /search word another');
  const hits: Hit[] = [];
  for (const session of sessions)
    for (const line of linesIn(session).toReversed()) {
      const entry = parseEntry(line);
      const [role, text] = (entry && textIn(entry)) ?? [];
      const small = text?.toLowerCase() ?? '';
      if (!role || !text || !words.every((word) => small.includes(word))) continue;
      hits.push({ session, role, excerpt: around(text, small.indexOf(words[0] ?? '')) });
      if (hits.length === most) return hits;
    }
  return hits;
}

function linesIn({ file }: SessionInfo): string[] {
  try {
    return readSessionText(file).split('\n');
  } catch {
    return []; // Removed since it was listed.
  }
}

function textIn(entry: Entry): [Hit['role'], string] | undefined {
  switch (entry.type) {
    case 'user':
      return ['you', textOf(entry.content)];
    case 'assistant':
      return ['answer', entry.message.text];
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
  return `${from > 0 ? '…' : ''}${oneLine(text.slice(from, from + 1000), 200)}`;
}
