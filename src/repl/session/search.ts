import { ChatError } from '../errors.ts';
import { readSessionText } from '../files/private-file.ts';
import { oneLine } from '../text/one-line.ts';
import { parseEntry, wordsOf } from './entry.ts';
import type { SessionInfo } from './store.ts';

export interface Hit {
  readonly session: SessionInfo;
  readonly role: string;
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
      const { role, text } = (entry && wordsOf(entry)) ?? { role: '', text: '' };
      const small = text.toLowerCase();
      if (!words.every((word) => small.includes(word))) continue;
      const from = Math.max(0, small.indexOf(words[0] ?? '') - 60);
      const excerpt = `${from > 0 ? '…' : ''}${oneLine(text.slice(from, from + 1000), 200)}`;
      hits.push({ session, role, excerpt });
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
