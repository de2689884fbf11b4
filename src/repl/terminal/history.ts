import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { appendPrivately, readPrivateFile, writePrivateFile } from '../files/chat-files.ts';
import { typable } from './paste.ts';

/** A longer entry is remembered only while the program runs. */
const longestEntry = 64 * 1024;
const mostEntries = 1000;

/** The lines that were entered before. */
export interface InputHistory {
  /** Oldest first. */
  readonly entries: readonly string[];
  /** Remembers an entry. Blank ones, repeated ones and ones that begin with a space are not remembered. */
  add(entry: string): void;
}

/**
 * Opens the history in a file of its own: one JSON string a line, so that an entry may have several, and two
 * programs may append at once. With a file that cannot be read or written, the history ends with the program.
 */
export function openHistory(file: string): InputHistory {
  const lines = attempt(() => readPrivateFile(file))?.split('\n') ?? [];
  const said = lines.flatMap((line) => attempt((): unknown => JSON.parse(line)) ?? []);
  const entries = said
    .filter((entry) => typeof entry === 'string')
    .slice(-mostEntries)
    .map(typable);
  // With the line end first: a line that a killed program left unfinished must not swallow the next one.
  const lineOf = (entry: string) => `\n${JSON.stringify(entry)}`;
  // Seldom, so that what another program appends at this very moment, and would be lost, is next to nothing.
  if (lines.length > 4 * mostEntries) attempt(() => writePrivateFile(file, entries.map(lineOf).join('')));
  return {
    entries,
    add(entry) {
      if (entry.trim() === '' || entry.startsWith(' ') || entry === entries.at(-1)) return;
      entries.push(entry);
      if (entry.length > longestEntry) return;
      attempt(() => {
        mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
        appendPrivately(file, lineOf(entry));
      });
    },
  };
}

/** A full disk, a line cut by a kill, a file that is not ours: no reason to stop a conversation. */
function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
